(** Block attention is optimal: the claim is [Best], from the definition of the population risk in Risk.v. *)
From Coq Require Import Reals ZArith List Lra Lia.
From Book Require Import Ball Vote Blocks Risk Form Inequalities.
Import ListNotations.
Open Scope R_scope.

(** There is a best strength v of block attention, and with it no attention and no value vector do better. *)
Definition Best q C L := (exists v, pull q C L v = 0) /\ forall v, pull q C L v = 0 -> Blocks_are_best q C L v.

Section Together.
Variables (q : R) (C L : nat).
Hypothesis q_range : 0 <= q <= 1.
Hypothesis C_size : (2 <= C)%nat.
Hypothesis L_size : (3 <= L)%nat.
Notation mean := (mean q C).

(** The best v: the form vanishes at the uniform row of a set. *)
Definition cube (l : list Z) : Z := (sum l ^ 3)%Z.
Lemma pull_is k g m : mean (free k) (fun m => IZR m * g m) m = IZR m * mean (free k) g m + INR k * mean (cube :: free (k - 1)) g m.
Proof.
  revert m. induction k as [|k IH]; intros m; [cbn; ring|].
  change (free (S k)) with (one :: free k). rewrite <- !words_mean.
  transitivity (words q C (fun l => IZR m * mean (free k) g (m + sum l ^ 3) + (IZR (cube l) * mean (free k) g (m + sum l ^ 3)
    + INR k * mean (cube :: free (k - 1)) g (m + sum l ^ 3)))).
  - apply words_ext. intros l. rewrite IH, plus_IZR. unfold cube. ring.
  - rewrite !words_plus, !words_times. change (words q C (fun l => IZR (cube l) * mean (free k) g (m + sum l ^ 3))) with (mean (cube :: free k) g m).
    rewrite !words_mean, S_INR. replace (S k - 1)%nat with k by lia.
    destruct k as [|k]; [cbn [INR]; ring|]. replace (S k - 1)%nat with k by lia. rewrite past1. ring.
Qed.
Lemma power_ones k n : power k (repeat 1 n) = INR n.
Proof. induction n as [|n IH]; [reflexivity|]. cbn [repeat]. change (power k (1 :: repeat 1 n)) with (1 ^ k + power k (repeat 1 n)). rewrite IH, pow1, S_INR. ring. Qed.
Lemma dotl_sum n l : length l = n -> dotl (repeat 1 n) l = IZR (sum l).
Proof.
  intros <-. induction l as [|s l IH]; [reflexivity|]. cbn [length repeat dotl]. rewrite IH.
  change (sum (s :: l)) with (s + sum l)%Z. rewrite plus_IZR. ring.
Qed.
Lemma cubed z : IZR (z ^ 3) = IZR z ^ 3.
Proof. now rewrite pow_IZR. Qed.
Lemma cube_mean pis g m : mean (cube :: pis) g m = INR C * mean (i :: pis) g m
  + 3 * (INR C * INR C - INR C) * mean (iij :: pis) g m
  + (INR C ^ 3 - 3 * INR C * INR C + 2 * INR C) * mean (ijk :: pis) g m.
Proof.
  generalize (one3 q C C_size (repeat 1 C) pis g m (repeat_length 1 C)). rewrite !power_ones. intros <-.
  cbn [Blocks.mean]. apply Rle_antisym; apply words_le; try exact q_range; intros l _ Hl;
    rewrite dotl_sum by exact Hl; unfold cube; rewrite cubed; right; ring.
Qed.
Lemma INR_less : INR (L - 1) = INR L - 1.
Proof. rewrite minus_INR by lia. reflexivity. Qed.
Lemma signal_is : IZR (signal C) = INR C ^ 3.
Proof. unfold signal. rewrite cubed, <- INR_IZR_INZ. reflexivity. Qed.
Lemma at_block v : pull q C L v = 0 ->
  t1 q C L v - 3 * t2 q C L v + 2 * t3 q C L v + 3 * (t2 q C L v - t3 q C L v) * c C + t3 q C L v * c C ^ 2 = 0.
Proof.
  unfold pull. rewrite pull_is, cube_mean, INR_less, signal_is. replace (L - 1 - 1)%nat with (L - 2)%nat by lia.
  unfold t1, t2, t3, N, c. intros H.
  assert (l0 : INR L <> 0) by (apply not_0_INR; lia). assert (c0 : INR C <> 0) by (apply not_0_INR; lia).
  apply (Rmult_eq_reg_l (INR L * INR C)); [|now apply Rmult_integral_contrapositive].
  rewrite Rmult_0_r, <- H. field. exact l0.
Qed.
Lemma input_pull v : pull q C L v = 0 -> input_mean q C L (fun x => IZR (cubes x) * slope v (cubes x)) = 0.
Proof.
  intros H. unfold input_mean. rewrite (below_ext L _ (fun _ => 0)); [rewrite below_const; unfold Rdiv; ring|].
  intros l _. rewrite <- H. unfold pull. rewrite <- many0. apply sets_ext. intros r. now rewrite (cubes_placed C L C_size L_size).
Qed.

(** A row of D = L C weights, set by set. *)
Fixpoint cut (k : nat) (S : nat -> R) : list (list R) :=
  match k with O => [] | Datatypes.S k => map S (seq 0 C) :: cut k (fun j => S (C + j)%nat) end.
Lemma below_first n f : below (S n) f = f 0%nat + below n (fun j => f (S j)).
Proof. induction n as [|n IH]; [cbn; ring|]. change (below (S (S n)) f) with (below (S n) f + f (S n)). rewrite IH. cbn [below]. ring. Qed.
Lemma below_add n k f : below (n + k) f = below n f + below k (fun j => f (n + j)%nat).
Proof.
  revert f. induction n as [|n IH]; intros f; [cbn [Nat.add below]; now rewrite Rplus_0_l|].
  change (S n + k)%nat with (S (n + k)). rewrite !below_first, IH. cbn [Nat.add]. ring.
Qed.
Lemma dotl_seq S l : dotl (map S (seq 0 (length l))) l = below (length l) (fun j => S j * IZR (nth j l 0%Z)).
Proof.
  revert S. induction l as [|s l IH]; intros S; [reflexivity|]. cbn [length]. rewrite below_first. cbn [seq map dotl nth].
  rewrite <- seq_shift, map_map, IH. reflexivity.
Qed.
Lemma power_seq S n : power 1 (map S (seq 0 n)) = below n S.
Proof.
  revert S. induction n as [|n IH]; intros S; [reflexivity|]. rewrite below_first. cbn [seq map].
  rewrite <- seq_shift, map_map, <- (IH (fun j => S (Datatypes.S j))). unfold power. cbn [fold_right]. ring.
Qed.
Lemma heard_cut k S x : of_signs C k x -> below (k * C) (fun j => S j * sign x j) = heardl (cut k S) x.
Proof.
  revert S x. induction k as [|k IH]; intros S x [Hx Hk].
  - destruct x; [reflexivity | discriminate].
  - destruct x as [|l x]; [discriminate|]. destruct (Forall_inv Hx) as [_ Hl].
    cbn [Nat.mul cut heardl]. rewrite below_add. unfold sign. cbn [concat]. f_equal.
    + rewrite <- Hl, dotl_seq. apply below_ext. intros j J. now rewrite app_nth1.
    + rewrite <- IH by (split; [exact (Forall_inv_tail Hx) | now injection Hk]). apply below_ext. intros j _.
      unfold sign. rewrite app_nth2 by lia. do 3 f_equal. lia.
Qed.
Lemma cut_shaped k S : shaped C (cut k S) /\ length (cut k S) = k.
Proof.
  revert S. induction k as [|k IH]; intros S; [split; [constructor | reflexivity]|].
  destruct (IH (fun j => S (C + j)%nat)) as [H1 H2]. cbn [cut length]. split; [|now rewrite H2].
  constructor; [now rewrite map_length, seq_length | exact H1].
Qed.
Lemma cut_mass k S : M 1 (cut k S) = below (k * C) S.
Proof.
  revert S. induction k as [|k IH]; intros S; [reflexivity|].
  cbn [Nat.mul cut]. rewrite below_add, <- IH, <- power_seq. unfold M, tot. cbn [fold_right]. ring.
Qed.
Lemma cut_nonneg k S : (forall j, 0 <= S j) -> Forall nonneg (cut k S).
Proof.
  revert S. induction k as [|k IH]; intros S H; [constructor|]. cbn [cut]. constructor; [|apply IH; intros; apply H].
  apply Forall_map. apply Forall_forall. intros j _. apply H.
Qed.
Lemma form_is v S : attention C L S -> form q C L v S =
  six (t1 q C L v) (t2 q C L v) (t3 q C L v) (t4 q C L v) (t5 q C L v) (td q C L v) (cut L S).
Proof.
  intros [_ A]. destruct (cut_shaped L S) as [Hs Hl].
  rewrite <- (form_in_six q C L q_range C_size L_size v (cut L S) Hs Hl) by (now rewrite cut_mass).
  unfold form. rewrite (input_ext q C L q_range ltac:(lia) _ (fun x => slope v (cubes x) * heardl (cut L S) x ^ 3)); [reflexivity|].
  intros x Hx. unfold heard. now rewrite heard_cut.
Qed.

Lemma from_inequalities : Two_inequalities q C L -> Best q C L.
Proof.
  intros [H T]. split; [exact H|]. intros v P. specialize (T v P). cbv zeta in T.
  apply blocks_are_best; [exact q_range | lia | now apply input_pull|]. intros S A. rewrite (form_is v S A).
  assert (B := at_block v P). destruct (cut_shaped L S) as [Hs Hl].
  generalize (t1 q C L v) (t2 q C L v) (t3 q C L v) (t4 q C L v) (t5 q C L v) (td q C L v) B T. clear T B P H.
  intros y1 y2 y3 y4 y5 yd B T.
  set (b := if (C =? 2)%nat then - y1 else Rmin (- y1) (second C y1 y2 y3)) in *.
  assert (b1 : b <= - y1) by (unfold b; destruct (C =? 2)%nat; [lra | apply Rmin_l]).
  assert (b2 : C = 2%nat \/ b <= second C y1 y2 y3).
  { unfold b. destruct (Nat.eqb_spec C 2); [now left | right; apply Rmin_r]. }
  clearbody b. set (u0 := u C y4 y5) in *. set (a := 3 * Rmax (y4 - u0) 0) in *.
  assert (a0 : 0 <= a) by (unfold a; generalize (Rmax_r (y4 - u0) 0); lra).
  destruct T as [b0 T]. unfold N in T.
  assert (l3 : 3 <= INR L) by (generalize (le_INR _ _ L_size); cbn; lra).
  assert (r0 := sqrt_pos b). assert (r2 : sqrt b ^ 2 = b) by (apply pow2_sqrt; lra).
  assert (go : forall p, sqrt b <= p -> p ^ 2 <= a + b ->
    3 * u0 + (a + b - p ^ 2) + INR L * (p - sqrt b) ^ 2 + (INR L - 2) * Rmax yd 0 <= 0 ->
    six y1 y2 y3 y4 y5 yd (cut L S) <= 0).
  { intros p p1 p2 p3. apply (six_nowhere_positive C L y1 y2 y3 y4 y5 yd b p (sqrt b)); auto.
    - repeat split; [lra | exact p1 | exact p2].
    - now rewrite cut_mass, (proj2 A).
    - apply cut_nonneg, A. }
  destruct (Rle_dec _ _) as [yes | no].
  - apply (go (INR L / (INR L - 1) * sqrt b)).
    + rewrite <- (Rmult_1_l (sqrt b)) at 1. apply Rmult_le_compat_r; [exact r0|].
      apply (Rmult_le_reg_r (INR L - 1)); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
    + rewrite Rpow_mult_distr, r2. apply (Rmult_le_reg_l ((INR L - 1) ^ 2)); [apply pow_lt; lra|].
      replace ((INR L - 1) ^ 2 * ((INR L / (INR L - 1)) ^ 2 * b)) with (INR L ^ 2 * b) by (field; lra). exact yes.
    + assert (Z : (a + b - (INR L / (INR L - 1) * sqrt b) ^ 2) + INR L * (INR L / (INR L - 1) * sqrt b - sqrt b) ^ 2 = a - b / (INR L - 1)).
      { replace ((INR L / (INR L - 1) * sqrt b - sqrt b) ^ 2) with (sqrt b ^ 2 / (INR L - 1) ^ 2) by (field; lra).
        rewrite Rpow_mult_distr, r2. field. lra. }
      lra.
  - assert (s0 : 0 <= a + b) by lra. assert (s2 : sqrt (a + b) ^ 2 = a + b) by (apply pow2_sqrt; lra).
    apply (go (sqrt (a + b))); [apply sqrt_le_1; lra | lra|]. lra.
Qed.
End Together.

Lemma best_right a b (b_positive : (0 < b)%Z) C L prec (l : (3 <= L)%nat) (c : (2 <= C)%nat) x x' y :
  optimal a b C L prec x x' y = true -> Best (IZR a / IZR b) C L.
Proof.
  intros H. apply from_inequalities; [| exact c | exact l | now apply (optimal_right a b C L b_positive prec l c x x' y)].
  unfold optimal in H. cbv zeta in H. rewrite !Bool.andb_true_iff in H. destruct H as [[[[[[A B] _] _] _] _] _].
  apply q_range; [exact b_positive | now apply Z.leb_le | now apply Z.leb_le].
Qed.

(** What [Blocks_are_best] asks can be met: rows that attend to patch 0 alone, and no noise. *)
Definition silent : average (nat -> R).
Proof. refine (Average _ (fun g => g (fun _ => 0)) (fun _ => True) _ _ _ _ _ _ _); auto. Defined.
Lemma silent_symmetric C L : symmetric C L silent.
Proof.
  exists 0. intros S. assert (Z : heard C L S (fun _ => 0) = 0).
  { unfold heard. rewrite (below_ext _ _ (fun _ => 0)) by (intros; ring). rewrite below_const. ring. }
  cbn. rewrite Z. repeat split; ring.
Qed.
Definition first (j : nat) : R := match j with O => 1 | _ => 0 end.
Lemma first_attention C L : (0 < L * C)%nat -> attention C L first.
Proof.
  intros H. split; [intros [|j]; cbn; lra|]. destruct (L * C)%nat as [|n]; [lia|]. clear H.
  rewrite below_first, (below_ext n _ (fun _ => 0)), below_const by reflexivity. cbn. ring.
Qed.
Lemma beaten q C L v : (0 < L * C)%nat -> Blocks_are_best q C L v ->
  risk_of_blocks q C L v <= risk q C L [first] 1 silent.
Proof. intros H B. apply B; [constructor; [now apply first_attention | constructor] | apply silent_symmetric | exact (fun _ => Logic.I)]. Qed.
