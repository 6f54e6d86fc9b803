(** In every Gram matrix at least C rows have their own patch among the C highest of the row, so in these
    rows the statement of Theorem 3.2 fails. The claim is [At_least_C_rows]. *)
(** In the book: rows of a Gram matrix. *)
From Coq Require Import Reals Lra.
From mathcomp Require Import ssreflect ssrfun ssrbool eqtype ssrnat seq choice fintype finset.
Open Scope R_scope.

(** * The claim *)

(** The inner product of two vectors of R^d. *)
Fixpoint dot (d : nat) (x y : nat -> R) : R := match d with O => 0 | S d => dot d x y + x d * y d end.
Definition less (x y : R) : bool := if Rlt_dec x y then true else false.

Section Rows.
Variables (D d : nat) (p : 'I_D -> nat -> R).        (* D encodings of length d *)
Definition score i j := dot d (p i) (p j).
(** In row i patch j comes before patch k: a higher score, or the same score and the lower number. *)
Definition before i j k := less (score i k) (score i j) || (~~ less (score i j) (score i k) && (j < k)%N).
(** Patch k is among the C highest of row i if fewer than C patches come before it. *)
Definition in_top C i k := (#|[set j | before i j k]| < C)%N.
Definition At_least_C_rows C := (C <= #|[set i | in_top C i i]|)%N.

(** * The proof *)

Lemma lessP x y : reflect (x < y) (less x y).
Proof. by rewrite /less; case: Rlt_dec => h; constructor. Qed.

Lemma dot_nonneg n x : 0 <= dot n x x.
Proof. elim: n => [|n IH] /=; [lra | nra]. Qed.

Lemma cauchy_schwarz n x y : dot n x y * dot n x y <= dot n x x * dot n y y.
Proof.
elim: n => [|n IH] /=; first lra.
move: IH (dot_nonneg n x) (dot_nonneg n y).
move: (dot n x y) (dot n x x) (dot n y y) (x n) (y n) => A X Y s t AXY X0 Y0.
suff: 2 * (A * (s * t)) <= X * (t * t) + Y * (s * s) by nra.
apply: Rsqr_incr_0_var; last by nra.
have st : 0 <= (s * t) * (s * t) := Rle_0_sqr (s * t).
have sq : 0 <= (X * (t * t) - Y * (s * s)) * (X * (t * t) - Y * (s * s)) := Rle_0_sqr _.
have h : A * A * ((s * t) * (s * t)) <= X * Y * ((s * t) * (s * t)) by apply: Rmult_le_compat_r.
by rewrite /Rsqr; lra.
Qed.

(** Longer vectors first, equal lengths by number: a strict total order of the patches. *)
Definition prec (j i : 'I_D) :=
  less (score i i) (score j j) || (~~ less (score j j) (score i i) && (j < i)%N).

Lemma prec_irr i : ~~ prec i i.
Proof. by rewrite /prec ltnn andbF orbF; apply/negP => /lessP; lra. Qed.
Lemma prec_trans i j k : prec i j -> prec j k -> prec i k.
Proof.
rewrite /prec; case/orP => [/lessP h|/andP[/lessP h ij]]; case/orP => [/lessP h'|/andP[/lessP h' jk]].
- by apply/orP; left; apply/lessP; lra.
- by apply/orP; left; apply/lessP; lra.
- by apply/orP; left; apply/lessP; lra.
- by apply/orP; right; rewrite (ltn_trans ij jk) andbT; apply/lessP; lra.
Qed.
Lemma prec_total i j : i != j -> prec i j || prec j i.
Proof.
move=> ne; rewrite /prec; case: (lessP (score i i) (score j j)) => h; case: (lessP (score j j) (score i i)) => h' //=.
by rewrite -neq_ltn.
Qed.

(** Cauchy-Schwarz: whoever comes before i in row i comes before it in length. *)
Lemma before_prec i j : before i j i -> prec j i.
Proof.
have cs : score i j * score i j <= score i i * score j j := cauchy_schwarz d (p i) (p j).
have ni : 0 <= score i i := dot_nonneg d (p i).
have nj : 0 <= score j j := dot_nonneg d (p j).
rewrite /before /prec; case/orP => [/lessP h|/andP[/lessP h ji]].
- by apply/orP; left; apply/lessP; nra.
- apply/orP; right; rewrite ji andbT; apply/lessP => lt.
  case: (Rlt_le_dec 0 (score i i)) => z; nra.
Qed.

Definition rank i := #|[set j | prec j i]|.
Lemma rank_lt i j : prec i j -> (rank i < rank j)%N.
Proof.
move=> h; apply: proper_card; apply/properP; split.
- by apply/subsetP => k; rewrite !inE => /prec_trans; apply.
- by exists i; rewrite !inE // prec_irr.
Qed.
Lemma rank_inj : injective rank.
Proof.
move=> i j eq; apply/eqP; apply/negPn/negP => /prec_total /orP [] /rank_lt; by rewrite eq ltnn.
Qed.
Lemma rank_small i : (rank i < D)%N.
Proof.
rewrite -[D in X in (_ < X)%N]card_ord -cardsT; apply: proper_card; apply/properP; split; first exact: subsetT.
by exists i; rewrite !inE // prec_irr.
Qed.

Theorem at_least_C_rows C : (C <= D)%N -> At_least_C_rows C.
Proof.
move=> CD; pose r i := Ordinal (rank_small i).
have r_inj : injective r by move=> i j [] /rank_inj.
have first_C : #|[set i | (rank i < C)%N]| = C.
  have -> : [set i | (rank i < C)%N] = r @^-1: [set k : 'I_D | (k < C)%N] by apply/setP => i; rewrite !inE.
  rewrite on_card_preimset; last by apply: onW_bij; apply: injF_bij.
  transitivity #|[set widen_ord CD k | k : 'I_C]|; last by rewrite card_imset ?card_ord // => k l [] /val_inj.
  apply: eq_card => k; rewrite inE; apply/idP/imsetP => [kC|[l _ ->]]; last by case: l.
  by exists (Ordinal kC) => //; apply: val_inj.
rewrite /At_least_C_rows -{1}first_C.
apply: subset_leq_card; apply/subsetP => i; rewrite !inE /in_top; apply: leq_ltn_trans.
by apply: subset_leq_card; apply/subsetP => j; rewrite !inE; apply: before_prec.
Qed.
End Rows.

(** An instance: of two patches with the encodings (1) and (2) one at least comes first in its own row; with
    scores of which each row prefers the other patch, none would. *)
Example at_least_C_rows_instance : At_least_C_rows 2 1 (fun i _ => INR i.+1) 1.
Proof. exact: at_least_C_rows. Qed.
