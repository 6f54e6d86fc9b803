(** The same function: attention to the sets in any order is the same model. *)
(** In the book: sets in any order. *)
From Coq Require Import Reals.
From mathcomp Require Import ssreflect ssrfun ssrbool eqtype ssrnat seq choice fintype bigop.
Open Scope R_scope.

Lemma RplusA : associative Rplus. Proof. by move=> x y z; rewrite Rplus_assoc. Qed.
Canonical R_monoid := Monoid.Law RplusA Rplus_0_l Rplus_0_r.
Canonical R_comoid := Monoid.ComLaw Rplus_comm.
Notation "\total_ ( i : T ) F" := (\big[Rplus/0]_(i : T) F) (at level 41, i at level 50, F at level 41).

Section SameFunction.
Variables (L C : nat).
Definition patch := ('I_L * 'I_C)%type.           (* the set of a patch, and its place in it; D = L C of them *)

(** Model (T): F (x) = sum_i sigma (D sum_j S_ij x_j), x_j = <v, X_j>, S the softmax of the scores A by rows. *)
Definition softmax (A : patch -> patch -> R) i j := exp (A i j) / (\total_(k : patch) exp (A i k)).
Definition F sigma A (x : patch -> R) :=
  \total_(i : patch) (sigma (INR (L * C) * (\total_(j : patch) (softmax A i j * x j)))).

(** Each patch scores c on the patches of the set pi (own set), and 0 elsewhere. *)
Definition scores c (pi : 'I_L -> 'I_L) (i j : patch) : R := if j.1 == pi i.1 then c else 0.

Theorem same_function sigma c pi tau x : injective pi -> injective tau ->
  F sigma (scores c pi) x = F sigma (scores c tau) x.
Proof.
suff to_id p : injective p -> F sigma (scores c p) x = F sigma (scores c id) x.
  by move=> ip it; rewrite (to_id _ ip) (to_id _ it).
move=> inj; rewrite [in RHS]/F (reindex_inj (h := fun i : patch => (p i.1, i.2))) //=.
by move=> [l k] [m n] /= [/inj -> ->].
Qed.
End SameFunction.

(** An instance: attention to the other one of two sets is the model of attention to the own one. *)
Example same_function_instance sigma c x :
  F 2 3 sigma (scores 2 3 c (@rev_ord 2)) x = F 2 3 sigma (scores 2 3 c id) x.
Proof. apply: same_function => //; exact: rev_ord_inj. Qed.
