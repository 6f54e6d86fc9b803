(** Three short statements of the book. *)
(** In the book: parity, two sets, even powers. *)
From Coq Require Import Reals ZArith List Lra Lia Psatz. From Book Require Import Vote Blocks.
Import ListNotations.
Open Scope R_scope.

(** The parity of two signs has no structure with sets of one patch, whatever phi is. *)
Theorem parity (phi : Z -> R) :
  ~ (forall s t, In s [1; -1]%Z -> In t [1; -1]%Z -> 0 < IZR (s * t) * (phi s + phi t)).
Proof.
  intros H. assert (one : In 1%Z [1; -1]%Z) by (simpl; auto). assert (mone : In (-1)%Z [1; -1]%Z) by (simpl; auto).
  generalize (H _ _ one one), (H _ _ one mone), (H _ _ mone one), (H _ _ mone mone). simpl Z.mul. lra.
Qed.

(** With two sets the label is the sign of the sum. *)
Theorem two_sets (x y : R) : (0 < x ^ 3 + y ^ 3 <-> 0 < x + y) /\ (x ^ 3 + y ^ 3 < 0 <-> x + y < 0).
Proof.
  assert (E : x ^ 3 + y ^ 3 = (x + y) * (((x - y / 2) ^ 2) + 3 / 4 * y ^ 2)) by field.
  assert (Z : 0 <= (x - y / 2) ^ 2) by apply pow2_ge_0. assert (Y : 0 <= y ^ 2) by apply pow2_ge_0.
  assert (K : x + y <> 0 -> 0 < (x - y / 2) ^ 2 + 3 / 4 * y ^ 2).
  { intros N. destruct (Req_dec y 0) as [-> | n]; [nra|]. assert (0 < y ^ 2) by nra. lra. }
  split; split; intros H.
  all: destruct (Req_dec (x + y) 0) as [z | nz]; [rewrite z in *; nra | specialize (K nz); nra].
Qed.

(** With an even power every attention S (a list of rows) errs on half of all
    inputs, ties counted one half. An input is y l: a fair sign y and the signs l at y = 1, of any law. *)
Definition err (y model : R) : R :=
  if Rlt_dec (y * model) 0 then 1 else if Rlt_dec 0 (y * model) then 0 else 1 / 2.
Definition heard (row x : list R) : R := fold_right Rplus 0 (map (fun p => fst p * snd p) (combine row x)).
Definition model (p : nat) (S : list (list R)) (x : list R) : R :=
  fold_right Rplus 0 (map (fun row => heard row x ^ p) S).
Definition error (E : (list R -> R) -> R) p S : R :=   (* E: the mean over l *)
  E (fun l => (err 1 (model p S l) + err (- 1) (model p S (map Ropp l))) / 2).
Lemma heard_opp row x : heard row (map Ropp x) = - heard row x.
Proof.
  unfold heard. revert x. induction row as [|r row IH]; intros [|s x]; cbn; try ring. rewrite IH. ring.
Qed.
Theorem even_power_errs_half E p S : E (fun _ => 1 / 2) = 1 / 2 -> Nat.Even p -> error E p S = 1 / 2.
Proof.
  intros H [k ->]. unfold error. transitivity (E (fun _ => 1 / 2)); [|exact H]. f_equal.
  apply FunctionalExtensionality.functional_extensionality. intros l.
  replace (model (2 * k) S (map Ropp l)) with (model (2 * k) S l).
  - unfold err. repeat destruct Rlt_dec; lra.
  - unfold model. f_equal. apply map_ext. intros row. rewrite heard_opp, !pow_mult. f_equal. ring.
Qed.

(** Instances. A product of two signs that is heard alone has structure, one that is a sum has none; of 2
    and -1 the cubes decide as the sum does; and under a square the plain sum of two random signs errs half
    of the time, where the cube does not. *)
Example parity_instance : ~ (forall s t, In s [1; -1]%Z -> In t [1; -1]%Z -> 0 < IZR (s * t) * (IZR s ^ 3 + IZR t ^ 3)).
Proof. exact (parity (fun s => IZR s ^ 3)). Qed.
Example two_sets_instance : 0 < 2 ^ 3 + (- 1) ^ 3.
Proof. apply two_sets. lra. Qed.
Definition fair (g : list R -> R) : R := (g [1; 1] + g [1; -1]) / 2.
Example even_power_errs_half_instance : error fair 2 [[1; 1]; [2; 1]] = 1 / 2 /\ error fair 1 [[1; 1]; [2; 1]] <> 1 / 2.
Proof.
  split; [apply even_power_errs_half; [unfold fair; lra | now exists 1%nat]|].
  unfold error, fair, err, model, heard. cbn. repeat destruct Rlt_dec; lra.
Qed.
