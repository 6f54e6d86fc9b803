(** What must not come through, and how. *)
From Coq Require Import Reals ZArith List Lra Lia.
From Coquelicot Require Import Coquelicot.
From Book Require Import Ends EndsAt BlocksSizes Best Ball Vote Sizes Window Blocks Risk Still.
From Book Require Overrates FirstSlope.
Import ListNotations.
Open Scope R_scope.

(** * Three false claims: for each the checker answers no, so that no theorem is made of it. *)

(** Companions win at q = 4 / 5, companions lose at q = 3 / 10, blocks are optimal at (D, C, q) = (12, 4, 4 / 5). *)
Example false_win : wins 4 5 (bits 64) 1 (16 - 4) 4 255 4096 = false.
Proof. vm_compute. reflexivity. Qed.
Example false_loss : loses 3 10 (bits 64) 1 (16 - 4) 4 13 16 = false.
Proof. vm_compute. reflexivity. Qed.
Example false_blocks : optimal 4 5 4 3 (bits 64) 0 1 1 = false.
Proof. vm_compute. reflexivity. Qed.
Fail Definition made : Companions_win 1 (4 / 5) (16 - 4) 4 :=
  wins_right 4 5 eq_refl (bits 64) 1 (16 - 4) 4 255 4096 (eq_refl true).

(** The first two are not only refused but refuted. *)
Lemma not_both k q n C : Companions_win k q n C -> Companions_lose k q n C -> False.
Proof. intros W [v [F L]]. generalize (W v (Rlt_le _ _ F)), (L v (Rle_refl v)). lra. Qed.

(** * A false variant: that scores rest where they are not equal. The slope of Still.v at scores t B, for the cube
      and two patches of two sets, is zero at t = 0; at t = 1 the theorem gives nothing, and the claim is refuted. *)

Definition own (i j : nat) : R := if (i =? j)%nat then 1 else 0.
Definition slope_of_risk (t s : R) := is_derive (fun t => input_mean 0 1 2 (fun x => loss (yF_at 1 2 (fun z => z ^ 3) 1 own t x))) t s.
Example slope_at_rest : slope_of_risk 0 0.
Proof.
  apply (nothing_moves 0 1 2 ltac:(lra) ltac:(lia) ltac:(lia) _ (fun z => 3 * z ^ 2)).
  intros z. auto_derive; [exact Logic.I | ring].
Qed.
Fail Definition elsewhere : slope_of_risk 1 0 := slope_at_rest.
Lemma not_elsewhere : ~ slope_of_risk 1 0.
Proof.
  set (s := fun t => exp t / (exp t + 1)).
  assert (E : forall t, input_mean 0 1 2 (fun x => loss (yF_at 1 2 (fun z => z ^ 3) 1 own t x)) = loss (8 * (s t ^ 3 + (1 - s t) ^ 3))).
  { intros t. assert (Y : forall x, x = [[1%Z]; [0%Z]] \/ x = [[0%Z]; [1%Z]] -> yF_at 1 2 (fun z => z ^ 3) 1 own t x = 8 * (s t ^ 3 + (1 - s t) ^ 3)).
    { assert (P := exp_pos t). intros x [-> | ->]; unfold yF_at, heard, soft, sign, own, s; cbn; rewrite Rmult_0_r, Rmult_1_r, exp_0; field; lra. }
    unfold input_mean, placed. cbn [below sets words Nat.sub firstn skipn repeat app]. unfold patch.
    rewrite (Y [[1]; [0]]%Z), (Y [[0]; [1]]%Z) by tauto. cbn [INR]. field. }
  intros H. apply (is_derive_ext _ _ _ _ E) in H. apply is_derive_unique in H.
  assert (P := exp_pos 1). assert (G : 1 < exp 1) by (generalize (exp_ineq1 1 ltac:(lra)); lra).
  assert (D : is_derive (fun t => loss (8 * (s t ^ 3 + (1 - s t) ^ 3))) 1
    (24 * (exp 1 - 1) / (exp 1 + 1) * (exp 1 / (exp 1 + 1) ^ 2) * - / (1 + exp (8 * (s 1 ^ 3 + (1 - s 1) ^ 3))))).
  { apply (is_derive_comp loss (fun t => 8 * (s t ^ 3 + (1 - s t) ^ 3))); [apply loss_derive|]. unfold s. auto_derive; [lra|]. field. lra. }
  apply is_derive_unique in D. assert (Z := eq_trans (eq_sym H) D).
  assert (0 < 24 * (exp 1 - 1) / (exp 1 + 1) * (exp 1 / (exp 1 + 1) ^ 2) * / (1 + exp (8 * (s 1 ^ 3 + (1 - s 1) ^ 3)))).
  { repeat apply Rmult_lt_0_compat; try lra; apply Rinv_0_lt_compat; [lra | nra | generalize (exp_pos (8 * (s 1 ^ 3 + (1 - s 1) ^ 3))); lra]. }
  lra.
Qed.

(** * A wrong sign: that the best strength of one set against the others underrates the vote of all. The theorem does not give
      it, and it is refuted, since that strength exists. *)
Definition Underrates := forall s, 0 < s -> Overrates.E 1 (fun a b => Overrates.weight (s * Overrates.above 5 a b) * Overrates.above 5 a b) = 0 ->
  0 < Overrates.E 1 (fun a b => Overrates.weight (s * Overrates.above 5 a b) * Overrates.all_vote 2 a b ^ 3).
Fail Definition underrates : Underrates :=
  proj1 (Overrates.best_strength 1 2 3 5 Rlt_0_1 ltac:(lia) ltac:(lia) ltac:(now exists 1%nat) ltac:(lia)).
Lemma not_underrates : ~ Underrates.
Proof. intros U. destruct Overrates.best_strength_instance as [s [S0 [Z0 N0]]]. generalize (U s S0 Z0). lra. Qed.
(** Nor does a win of two functions give a loss of two speeds. *)
Fail Definition loses : FirstSlope.Loses (/ 2) 2 2 1 :=
  FirstSlope.loss_is_a_slope (/ 2) 2 2 1 ltac:(lra) ltac:(lia) ltac:(lia) ltac:(lia) FirstSlope.small_win.

(** * Where runs end: k one unit higher is refused, and alpha one unit higher refuted, since there is one end point. *)
Example false_end : ends_at 3 10 1 10000 1 4 4 (bits 53) 1099511627776 falling 99733726484 99733726489 99867944214
  90707 90708 1000000 38693 38694 10000000 = false.
Proof. vm_cast_no_check (eq_refl false). Qed.
Lemma not_higher : ~ Ends (3 / 10) 4 4 (1 / 10000) 1 (90708 / 1000000) (90709 / 1000000) (38692 / 10000000) (38693 / 10000000).
Proof.
  intros [a [k [E [_ [B _]]]]]. destruct ends_D16_C4_q3_10 as [a' [k' [E' [_ [B' _]]]]].
  destruct (one_end _ _ _ _ _ _ _ _ _ E E') as [<- _]. lra.
Qed.

(** * Another: that block attention is optimal at every number of sets of two, two sets included. There the vote is
      never wrong, and no v is best. *)
Lemma not_two_sets : ~ Best (3 / 10) 2 2.
Proof.
  intros [[v Z] _]. apply (Rlt_irrefl 0). rewrite <- Z at 2. unfold pull. change (2 - 1)%nat with 1%nat. change (signal 2) with 8%Z.
  rewrite M_succ. unfold mix. cbn. assert (S : forall m, 0 < slope v m).
  { intros m. unfold slope. apply Rinv_0_lt_compat. generalize (exp_pos (v * IZR m)). lra. }
  generalize (S 7%Z), (S 8%Z), (S 9%Z), (S 16%Z). lra.
Qed.
Fail Definition from_two_sets : forall L, (2 <= L)%nat -> Best (3 / 10) 2 L := optimal_from_moments.

(** * Witnesses that show nothing: u on the wrong side of its zero, too few bits, v between no two numbers. *)
Example wrong_side : wins 3 10 (bits 64) 1 (16 - 4) 4 1 1000 = false.
Proof. vm_compute. reflexivity. Qed.
Example few_bits : wins 3 10 (bits 3) 1 (16 - 4) 4 13 16 = false.
Proof. vm_compute. reflexivity. Qed.
Example not_between : optimal 3 10 4 4 (bits 64) 1641228021 1641228022 8589934592 = false.
Proof. vm_compute. reflexivity. Qed.
(** In integers, at four sets of two: Y below, above and at the right number. *)
Example small_Y : all_from_four [7600%Z] = false.
Proof. vm_compute. reflexivity. Qed.
Example large_Y : all_from_four [7800%Z] = false.
Proof. vm_compute. reflexivity. Qed.
Example right_Y : all_from_four [7698%Z] = true.
Proof. vm_compute. reflexivity. Qed.
Fail Definition by_another : Best (3 / 10) 2 4 := all_from_four_right [7800%Z] (eq_refl true) 0 (le_n 1).
(** In integers, at twelve random patches: Y on either side of where both signs are right, and no Y at q = 4 / 5. *)
Example small_u : run_from 3 10 4 12 [100%Z] = false.
Proof. vm_compute. reflexivity. Qed.
Example large_u : run_from 3 10 4 12 [20%Z] = false.
Proof. vm_compute. reflexivity. Qed.
Example right_u : run_from 3 10 4 12 [42%Z] = true.
Proof. vm_compute. reflexivity. Qed.
Example false_sizes : forallb (fun Y => negb (run_from 4 5 4 12 [Y])) [10; 100; 500; 1000; 2000; 10000]%Z = true.
Proof. vm_compute. reflexivity. Qed.
(** A piece that reaches over the end point, and one around it on which the face is not seen to be convex. *)
Example over_the_end : falls_on 1 10000 4 4 (bits 53) (A 3 10 4 4) 16 0 [2]%Z = false.
Proof. vm_cast_no_check (eq_refl false). Qed.
Example too_wide : negative (bend_ball 1 10000 4 4 (bits 53) (A 3 10 4 4) (between (bits 53) 5 10 64)) = false.
Proof. vm_cast_no_check (eq_refl false). Qed.
Example gap : pieces (bits 53) true 1 (16 - 4) 4 10 3 4 16 (cons (3, 13)%Z nil) = false.
Proof. vm_compute. reflexivity. Qed.

(** * A theorem without content: the kernel accepts it, with a clean list of axioms, since nothing satisfies
      what it assumes. It has no instance, and [make proofs] says so. *)
Theorem empty q : q < 0 -> 0 < q -> Companions_win 1 (4 / 5) (16 - 4) 4.
Proof. intros. exfalso. lra. Qed.
