(** A difference of two Poisson variables, the vote: its ratios are concave in the order. By two recurrences
    of modified Bessel functions, and a first crossing. *)
(** In the book: ours-certified-faces. *)
From Coq Require Import Reals ZArith Lra Lia.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

(** * The definitions *)

(** P[N = j] for a Poisson variable of mean z. *)
Definition poisson (z : R) (j : nat) : R := exp (- z) * z ^ j / INR (fact j).
(** N+ and N- are independent, of mean z each: the pairs with N+ - N- = r, in order, and P[R = r]. *)
Definition plus_part (r : Z) (j : nat) : nat := (j + Z.to_nat r)%nat.
Definition minus_part (r : Z) (j : nat) : nat := (j + Z.to_nat (- r))%nat.
Definition pair (z : R) (r : Z) (j : nat) : R := poisson z (plus_part r j) * poisson z (minus_part r j).
Definition chance (z : R) (r : Z) : R := Series (pair z r).
(** The logarithm of I_(r-1) / I_r at 2 z. *)
Definition ratio (z : R) (r : Z) : R := ln (chance z (r - 1) / chance z r).
(** The order of a ratio is r - 1/2 >= 1/2. *)
Definition Concave z := forall r, (1 <= r)%Z -> ratio z (r + 1) - 2 * ratio z r + ratio z (r - 1) < 0.

(** * Series *)

Lemma series_nonneg a : (forall n, 0 <= a n) -> ex_series a -> 0 <= Series a.
Proof.
  intros P E. apply Rle_trans with (Series (fun n => 0 * a n)); [rewrite Series_scal_l; lra|].
  apply Series_le; [|exact E]. intros n. generalize (P n). lra.
Qed.
Lemma series_above a : (forall n, 0 <= a n) -> ex_series a -> a 0%nat <= Series a.
Proof.
  intros P E. rewrite (Series_incr_1 a E). assert (0 <= Series (fun k => a (S k))); [|lra].
  apply series_nonneg; [intros; apply P|]. now apply (ex_series_incr_1 a).
Qed.

(** * J_n(y) = sum of y^j / (j! (j+n)!), so that I_n(2 z) = z^n J_n(z^2) *)

Definition c (n j : nat) : R := / (INR (fact j) * INR (fact (j + n))).
Definition J (n : nat) (y : R) : R := PSeries (c n) y.

Lemma c_positive n j : 0 < c n j.
Proof. apply Rinv_0_lt_compat, Rmult_lt_0_compat; apply INR_fact_lt_0. Qed.
Lemma c_next n j : c n (S j) = c n j * (/ INR (S j) * / INR (S j + n)).
Proof.
  unfold c. change (S j + n)%nat with (S (j + n)). rewrite !fact_simpl, !mult_INR.
  assert (A := INR_fact_lt_0 j). assert (B := INR_fact_lt_0 (j + n)).
  assert (X := lt_0_INR (S j) ltac:(lia)). assert (Y := lt_0_INR (S (j + n)) ltac:(lia)). field. repeat split; lra.
Qed.
Lemma radius n : CV_radius (c n) = p_infty.
Proof.
  apply CV_radius_infinite_DAlembert; [intros j; generalize (c_positive n j); lra|].
  apply (is_lim_seq_le_le (fun _ => 0) _ (fun j => / INR (S j))); [|apply is_lim_seq_const|].
  - intros j. rewrite c_next. assert (P := c_positive n j).
    replace (c n j * (/ INR (S j) * / INR (S j + n)) / c n j) with (/ INR (S j) * / INR (S j + n)) by (field; repeat split; try (apply not_0_INR; lia); lra).
    assert (A : 0 < / INR (S j)) by (apply Rinv_0_lt_compat, lt_0_INR; lia).
    assert (B : 0 < / INR (S j + n) <= 1).
    { split; [apply Rinv_0_lt_compat, lt_0_INR; lia|]. rewrite <- Rinv_1. apply Rinv_le_contravar; [lra|]. change 1 with (INR 1). apply le_INR. lia. }
    rewrite Rabs_pos_eq by nra. nra.
  - apply (is_lim_seq_incr_1 (fun j => / INR j)). replace (Finite 0) with (Rbar_inv p_infty) by reflexivity.
    apply is_lim_seq_inv; [apply is_lim_seq_INR | discriminate].
Qed.
Lemma inside n y : Rbar_lt (Rabs y) (CV_radius (c n)).
Proof. now rewrite radius. Qed.
Lemma ex_J n y : ex_pseries (c n) y.
Proof. apply CV_radius_inside, inside. Qed.
Lemma J_derive n y : is_derive (J n) y (J (S n) y).
Proof.
  unfold J. rewrite (PSeries_ext (c (S n)) (PS_derive (c n))).
  - apply is_derive_PSeries, inside.
  - intros j. unfold PS_derive. rewrite c_next. unfold c. replace (j + S n)%nat with (S (j + n)) by lia.
    change (S j + n)%nat with (S (j + n)). rewrite fact_simpl, mult_INR.
    assert (A := INR_fact_lt_0 j). assert (B := INR_fact_lt_0 (j + n)).
    assert (X := lt_0_INR (S j) ltac:(lia)). assert (Y := lt_0_INR (S (j + n)) ltac:(lia)). field. repeat split; lra.
Qed.
Lemma J_terms n y : 0 <= y -> forall j, 0 <= c n j * y ^ j.
Proof. intros Y j. apply Rmult_le_pos; [left; apply c_positive | now apply pow_le]. Qed.
Lemma ex_J_series n y : ex_series (fun j => c n j * y ^ j).
Proof. apply (ex_series_ext (fun j => scal (pow_n y j) (c n j))); [|apply ex_J].
  intros j. rewrite pow_n_pow. unfold scal; simpl. unfold mult; simpl. ring. Qed.
Lemma J_positive n y : 0 <= y -> 0 < J n y.
Proof.
  intros Y. apply Rlt_le_trans with (c n 0 * y ^ 0); [simpl; generalize (c_positive n 0); lra|].
  apply (series_above (fun j => c n j * y ^ j)); [now apply J_terms | apply ex_J_series].
Qed.
Lemma J_recurrence n y : J n y = INR (S n) * J (S n) y + y * J (S (S n)) y.
Proof.
  unfold J. rewrite <- PSeries_scal, <- PSeries_incr_1, <- PSeries_plus.
  - apply PSeries_ext. intros [|j].
    + transitivity (INR (S n) * c (S n) 0 + 0); [|reflexivity]. unfold c. change (0 + n)%nat with n. change (0 + S n)%nat with (S n).
      change (fact 0) with 1%nat. rewrite fact_simpl, mult_INR. change (INR 1) with 1.
      assert (A := INR_fact_lt_0 n). assert (X := lt_0_INR (S n) ltac:(lia)). field. split; lra.
    + transitivity (INR (S n) * c (S n) (S j) + c (S (S n)) j); [|reflexivity].
      unfold c. replace (j + S (S n))%nat with (S (S (j + n))) by lia. replace (S j + S n)%nat with (S (S (j + n))) by lia.
      change (S j + n)%nat with (S (j + n)). rewrite (fact_simpl (S (j + n))), (fact_simpl j), !mult_INR.
      assert (A := INR_fact_lt_0 j). assert (B := INR_fact_lt_0 (S (j + n))).
      assert (E : INR (S (S (j + n))) = INR (S j) + INR (S n)) by (rewrite !S_INR, plus_INR; ring).
      assert (X := lt_0_INR (S j) ltac:(lia)). assert (Y := lt_0_INR (S n) ltac:(lia)). rewrite E. field. repeat split; lra.
  - apply (ex_pseries_scal (INR (S n))); [apply Rmult_comm | apply ex_J].
  - apply ex_pseries_incr_1, ex_J.
Qed.
Lemma J_at_zero n : J n 0 = / INR (fact n).
Proof. unfold J. rewrite PSeries_0. unfold c. simpl. rewrite Rmult_1_l. reflexivity. Qed.

(** * The quotients *)

Definition q (n : nat) (y : R) : R := J n y / J (S n) y.
Definition e (n : nat) (y : R) : R := y / q n y + INR (S n) - q n y.
Lemma q_positive n y : 0 <= y -> 0 < q n y.
Proof. intros Y. apply Rdiv_lt_0_compat; now apply J_positive. Qed.
Lemma q_recurrence n y : 0 <= y -> q n y = INR (S n) + y / q (S n) y.
Proof.
  intros Y. unfold q. rewrite (J_recurrence n). assert (A := J_positive (S n) y Y). assert (B := J_positive (S (S n)) y Y). field. split; lra.
Qed.
Lemma q_at_zero n : q n 0 = INR (S n).
Proof. rewrite q_recurrence by lra. unfold Rdiv. ring. Qed.
Lemma q_derive n y : 0 <= y -> is_derive (q n) y (1 - q n y / q (S n) y).
Proof.
  intros Y. unfold q. assert (A := J_positive n y Y). assert (B := J_positive (S n) y Y). assert (C := J_positive (S (S n)) y Y).
  replace (1 - J n y / J (S n) y / (J (S n) y / J (S (S n)) y)) with
    ((J (S n) y * J (S n) y - J n y * J (S (S n)) y) / J (S n) y ^ 2) by (field; split; lra).
  apply (is_derive_div (J n) (J (S n))); [apply J_derive | apply J_derive | lra].
Qed.
Lemma q_slope n y : 0 < y -> is_derive (q n) y (q n y * e n y / y).
Proof.
  intros Y. replace (q n y * e n y / y) with (1 - q n y / q (S n) y); [apply q_derive; lra|].
  assert (A := q_positive n y ltac:(lra)). assert (B := q_positive (S n) y ltac:(lra)). unfold e.
  assert (E := q_recurrence n y ltac:(lra)). replace (q n y / q (S n) y) with (q n y * (q n y - INR (S n)) / y); [field; split; lra|].
  rewrite E at 2. field. split; lra.
Qed.
Lemma q_continuous n y : 0 <= y -> continuous (q n) y.
Proof. intros Y. apply (ex_derive_continuous (q n)). eexists. now apply q_derive. Qed.

Lemma slope_is n y : 0 < y -> Derive (fun y : R => q n y) y = q n y * e n y / y.
Proof. intros Y. apply is_derive_unique. exact (q_slope n y Y). Qed.

(** What starts below one, and falls where it is not below, stays below. *)
Lemma stays_below f l b : 0 <= b -> (forall x, 0 <= x <= b -> continuous f x) -> f 0 < 1 ->
  (forall x, 0 < x <= b -> is_derive f x (f x * l x / x)) -> (forall x, 0 < x <= b -> 1 <= f x -> l x < 0) -> f b < 1.
Proof.
  intros B C Z D N. destruct (Rlt_le_dec (f b) 1) as [H | H]; [exact H | exfalso].
  destruct (continuity_ab_maj f 0 b B) as [x [M X]].
  { intros x X. apply continuity_pt_filterlim. now apply C. }
  assert (F : 1 <= f x) by (generalize (M b ltac:(lra)); lra).
  assert (P : 0 < x) by (destruct (Rlt_le_dec 0 x); [assumption|]; replace x with 0 in F by lra; lra).
  assert (S := N x ltac:(lra) F). assert (K := D x ltac:(lra)). apply is_derive_Reals in K.
  assert (V : f x * l x / x < 0). { unfold Rdiv. assert (0 < / x) by now apply Rinv_0_lt_compat. assert (f x * l x < 0) by nra. nra. }
  destruct (K (- (f x * l x / x) / 2) ltac:(lra)) as [d Hd]. set (h := - Rmin (d / 2) (x / 2)).
  assert (Dp := cond_pos d). assert (h < 0 /\ - x < h /\ Rabs h < d).
  { unfold h. assert (0 < Rmin (d / 2) (x / 2)) by (apply Rmin_glb_lt; lra).
    generalize (Rmin_l (d / 2) (x / 2)), (Rmin_r (d / 2) (x / 2)). intros. rewrite Rabs_Ropp, Rabs_pos_eq; lra. }
  specialize (Hd h ltac:(lra) ltac:(lra)). apply Rabs_def2 in Hd. destruct Hd as [Hd _].
  assert (G : (f (x + h) - f x) / h < 0) by lra. assert (f (x + h) <= f x) by (apply M; lra).
  assert (/ h < 0) by (apply Rinv_lt_0_compat; lra). unfold Rdiv in G. nra.
Qed.

Ltac side := repeat split; try exact Logic.I; try (eexists; first [eassumption | apply q_derive; lra]);
  simpl; try (apply Rgt_not_eq; unfold Rgt; repeat (apply Rmult_lt_0_compat; [lra|]); lra).
Ltac known n x X := let H := fresh "P" in let K := fresh "K" in
  assert (H := q_positive n x (Rlt_le _ _ X)); assert (K := q_slope n x X).

Lemma decreasing n y : 0 <= y -> y < q n y ^ 2.
Proof.
  intros Y. assert (P := q_positive n y Y). cut (y / q n y ^ 2 < 1).
  { intros H. apply Rmult_lt_reg_r with (/ q n y ^ 2); [apply Rinv_0_lt_compat; nra|]. rewrite Rinv_r by nra. exact H. }
  apply (stays_below (fun x => x / q n x ^ 2) (fun x => 1 - 2 * e n x) y Y).
  - intros x X. assert (Q := q_positive n x ltac:(lra)). apply (ex_derive_continuous (fun x => x / q n x ^ 2)).
    auto_derive. side.
  - cbv beta. unfold Rdiv. rewrite !Rmult_0_l. lra.
  - intros x [X _]. cbv beta. known n x X. auto_derive.
    + side.
    + rewrite !slope_is by exact X. field. lra.
  - intros x [X _] H. cbv beta in *. known n x X. assert (1 <= INR (S n)) by (rewrite S_INR; generalize (pos_INR n); lra).
    assert (L : q n x ^ 2 <= x). { apply Rmult_le_reg_r with (/ q n x ^ 2); [apply Rinv_0_lt_compat; nra|]. rewrite Rinv_r by nra. exact H. }
    assert (q n x <= x / q n x); [|unfold e; lra].
    apply Rmult_le_reg_r with (q n x); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
Qed.

Lemma increasing n y : 0 <= y -> q n y < q (S n) y.
Proof.
  intros Y. assert (P := q_positive n y Y). assert (P' := q_positive (S n) y Y). cut (q n y / q (S n) y < 1).
  { intros H. apply Rmult_lt_reg_r with (/ q (S n) y); [apply Rinv_0_lt_compat; nra|]. rewrite Rinv_r by nra. exact H. }
  apply (stays_below (fun x => q n x / q (S n) x) (fun x => e n x - e (S n) x) y Y).
  - intros x X. assert (Q := q_positive (S n) x ltac:(lra)). apply (ex_derive_continuous (fun x => q n x / q (S n) x)).
    auto_derive. side.
  - cbv beta. rewrite !q_at_zero. assert (A := lt_0_INR (S n) ltac:(lia)). rewrite (S_INR (S n)). apply Rmult_lt_reg_r with (INR (S n) + 1); [lra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
  - intros x [X _]. cbv beta. known n x X. known (S n) x X. auto_derive.
    + side.
    + rewrite !slope_is by exact X. field. lra.
  - intros x [X _] H. cbv beta in *. known n x X. known (S n) x X.
    assert (L : q (S n) x <= q n x). { apply Rmult_le_reg_r with (/ q (S n) x); [apply Rinv_0_lt_compat; nra|]. rewrite Rinv_r by nra. exact H. }
    unfold e. rewrite (S_INR (S n)). assert (x / q n x <= x / q (S n) x); [|lra].
    apply Rmult_le_compat_l; [lra|]. now apply Rinv_le_contravar.
Qed.

Lemma concave_zero y : 0 <= y -> y * q 1 y < q 0 y ^ 3.
Proof.
  intros Y. assert (P := q_positive 0 y Y). assert (P' := q_positive 1 y Y). cut (y * q 1 y / q 0 y ^ 3 < 1).
  { intros H. assert (0 < q 0 y ^ 3) by now apply pow_lt. apply Rmult_lt_reg_r with (/ q 0 y ^ 3); [now apply Rinv_0_lt_compat|]. rewrite Rinv_r by lra. exact H. }
  apply (stays_below (fun x => x * q 1 x / q 0 x ^ 3) (fun x => 1 + e 1 x - 3 * e 0 x) y Y).
  - intros x X. assert (Q := q_positive 0 x ltac:(lra)). apply (ex_derive_continuous (fun x => x * q 1 x / q 0 x ^ 3)).
    auto_derive. side.
  - cbv beta. unfold Rdiv. rewrite !Rmult_0_l. lra.
  - intros x [X _]. cbv beta. known 0%nat x X. known 1%nat x X. assert (0 < q 0 x ^ 3) by now apply pow_lt. auto_derive.
    + side.
    + rewrite !slope_is by exact X. field. lra.
  - intros x [X _] H. cbv beta in *. known 0%nat x X. known 1%nat x X. assert (U := decreasing 0 x ltac:(lra)). unfold e. simpl INR.
    set (b := q 0 x) in *. set (d := q 1 x) in *. assert (B3 : 0 < b ^ 3) by now apply pow_lt.
    assert (L : b ^ 3 / x <= d). { apply Rmult_le_reg_r with (x / b ^ 3); [apply Rdiv_lt_0_compat; lra|].
      replace (b ^ 3 / x * (x / b ^ 3)) with 1 by (field; lra). replace (d * (x / b ^ 3)) with (x * d / b ^ 3) by (field; lra). exact H. }
    assert (x / d <= x * (x / b ^ 3)).
    { apply Rmult_le_compat_l; [lra|]. replace (x / b ^ 3) with (/ (b ^ 3 / x)) by (field; split; lra). apply Rinv_le_contravar; [|exact L]. apply Rdiv_lt_0_compat; lra. }
    assert (T : 0 < (b - x / b) ^ 3 / x). { apply Rdiv_lt_0_compat; [|lra]. apply pow_lt. replace (b - x / b) with ((b ^ 2 - x) / b) by (field; lra). apply Rdiv_lt_0_compat; lra. }
    replace ((b - x / b) ^ 3 / x) with (b ^ 3 / x - 3 * b + 3 * (x / b) - x * (x / b ^ 3)) in T by (field; split; lra). lra.
Qed.

Lemma concave_up n y : 0 <= y -> q (S (S n)) y * q n y < q (S n) y ^ 2.
Proof.
  intros Y. assert (P := q_positive n y Y). assert (P' := q_positive (S n) y Y). assert (P'' := q_positive (S (S n)) y Y).
  cut (q (S (S n)) y * q n y / q (S n) y ^ 2 < 1).
  { intros H. assert (0 < q (S n) y ^ 2) by now apply pow_lt. apply Rmult_lt_reg_r with (/ q (S n) y ^ 2); [now apply Rinv_0_lt_compat|]. rewrite Rinv_r by lra. exact H. }
  apply (stays_below (fun x => q (S (S n)) x * q n x / q (S n) x ^ 2) (fun x => e (S (S n)) x + e n x - 2 * e (S n) x) y Y).
  - intros x X. assert (Q := q_positive (S n) x ltac:(lra)). apply (ex_derive_continuous (fun x => q (S (S n)) x * q n x / q (S n) x ^ 2)).
    auto_derive. side.
  - cbv beta. rewrite !q_at_zero. assert (A := pos_INR n). rewrite !S_INR. assert (0 < (INR n + 1 + 1) ^ 2) by (apply pow_lt; lra).
    apply Rmult_lt_reg_r with ((INR n + 1 + 1) ^ 2); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
  - intros x [X _]. cbv beta. known n x X. known (S n) x X. known (S (S n)) x X. assert (0 < q (S n) x ^ 2) by now apply pow_lt. auto_derive.
    + side.
    + rewrite !slope_is by exact X. field. lra.
  - intros x [X _] H. cbv beta in *. known n x X. known (S n) x X. known (S (S n)) x X. assert (U := decreasing (S n) x ltac:(lra)).
    assert (I1 := increasing n x ltac:(lra)). assert (I2 := increasing (S n) x ltac:(lra)). unfold e. rewrite !S_INR.
    set (a := q n x) in *. set (b := q (S n) x) in *. set (d := q (S (S n)) x) in *. assert (B2 : 0 < b ^ 2) by now apply pow_lt.
    assert (L : b ^ 2 <= d * a). { apply Rmult_le_reg_r with (/ b ^ 2); [now apply Rinv_0_lt_compat|]. rewrite Rinv_r by lra. exact H. }
    assert (W : 2 * b < a + d) by nra.
    assert (Z : x / (d * a) <= x / b ^ 2). { apply Rmult_le_compat_l; [lra|]. now apply Rinv_le_contravar. }
    assert (Z' : x / b ^ 2 < 1). { apply Rmult_lt_reg_r with (b ^ 2); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    assert (E : x / d + x / a = (a + d) * (x / (d * a))) by (field; split; lra).
    assert (E' : x / b = b * (x / b ^ 2)) by (field; lra).
    set (s := x / (d * a)) in *. set (t := x / b ^ 2) in *. nra.
Qed.

(** What the number of features needs: 2 z sinh of the ratio exceeds its order. *)
Lemma spread n y : 0 <= y -> INR n + / 2 < q n y - y / q n y.
Proof.
  intros Y. assert (H0 : forall x, 0 <= x -> 0 < q n x - x / q n x).
  { intros x X. assert (P := q_positive n x X). assert (U := decreasing n x X). replace (q n x - x / q n x) with ((q n x ^ 2 - x) / q n x) by (field; lra). apply Rdiv_lt_0_compat; lra. }
  assert (I := pos_INR n). cut ((INR n + / 2) / (q n y - y / q n y) < 1).
  { intros H. assert (H1 := H0 y Y). apply Rmult_lt_reg_r with (/ (q n y - y / q n y)); [now apply Rinv_0_lt_compat|]. rewrite Rinv_r by lra. exact H. }
  apply (stays_below (fun x => (INR n + / 2) / (q n x - x / q n x)) (fun x => - (e n x * (q n x + x / q n x) - x / q n x) / (q n x - x / q n x)) y Y).
  - intros x X. assert (H1 := H0 x ltac:(lra)). assert (Q := q_positive n x ltac:(lra)). apply (ex_derive_continuous (fun x => (INR n + / 2) / (q n x - x / q n x))).
    auto_derive. repeat split; try (eexists; apply q_derive; lra); unfold Rdiv in *; lra.
  - cbv beta. rewrite !q_at_zero. assert (A := lt_0_INR (S n) ltac:(lia)). rewrite S_INR in *. replace (0 / (INR n + 1)) with 0 by (field; lra).
    apply Rmult_lt_reg_r with (INR n + 1 - 0); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
  - intros x [X _]. cbv beta. assert (H1 := H0 x ltac:(lra)). known n x X. auto_derive.
    + repeat split; try (eexists; eassumption); unfold Rdiv in *; lra.
    + rewrite !slope_is by exact X. unfold e. assert (q n x ^ 2 - x <> 0) by (generalize (decreasing n x ltac:(lra)); lra). field. repeat split; try lra. 
  - intros x [X _] H. cbv beta in *. assert (H1 := H0 x ltac:(lra)). known n x X. set (h := q n x - x / q n x) in *.
    assert (L : h <= INR n + / 2). { apply Rmult_le_reg_r with (/ h); [now apply Rinv_0_lt_compat|]. rewrite Rinv_r by lra. exact H. }
    assert (G : / 2 <= e n x) by (unfold e; rewrite S_INR; unfold h in L; lra). assert (0 < x / q n x) by (apply Rdiv_lt_0_compat; lra).
    assert (0 < e n x * (q n x + x / q n x) - x / q n x) by (unfold h in H1; nra).
    unfold Rdiv at 1. assert (0 < / h) by now apply Rinv_0_lt_compat. nra.
Qed.

(** * The law of R *)

Lemma poisson_positive z j : 0 < z -> 0 < poisson z j.
Proof. intros Z. apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; [apply exp_pos | now apply pow_lt] | apply INR_fact_lt_0]. Qed.
Lemma pair_is z r j : pair z r j = exp (- z) ^ 2 * z ^ Z.abs_nat r * (c (Z.abs_nat r) j * (z ^ 2) ^ j).
Proof.
  assert (K : forall n, poisson z (j + n) * poisson z j = exp (- z) ^ 2 * z ^ n * (c n j * (z ^ 2) ^ j)).
  { intros n. unfold poisson, c. rewrite <- pow_mult, pow_add. replace (2 * j)%nat with (j + j)%nat by lia. rewrite pow_add.
    assert (A := INR_fact_lt_0 j). assert (B := INR_fact_lt_0 (j + n)). field. split; lra. }
  unfold pair, plus_part, minus_part. rewrite <- K. destruct r as [|r|r]; simpl Z.to_nat; simpl Z.abs_nat; rewrite ?Nat.add_0_r; [reflexivity | reflexivity | apply Rmult_comm].
Qed.
Lemma chance_is z r : chance z r = exp (- z) ^ 2 * z ^ Z.abs_nat r * J (Z.abs_nat r) (z ^ 2).
Proof. unfold chance. rewrite (Series_ext _ _ (pair_is z r)), Series_scal_l. reflexivity. Qed.
Lemma ex_pair z r : ex_series (pair z r).
Proof. apply (ex_series_ext _ _ (fun j => eq_sym (pair_is z r j))). exact (@ex_series_scal_l R_AbsRing R_NormedModule (exp (- z) ^ 2 * z ^ Z.abs_nat r) _ (ex_J_series _ _)). Qed.
Lemma chance_positive z r : 0 < z -> 0 < chance z r.
Proof.
  intros Z. rewrite chance_is. apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; [apply pow_lt, exp_pos | now apply pow_lt]|]. apply J_positive, pow2_ge_0.
Qed.
Lemma chance_even z r : chance z (- r) = chance z r.
Proof. rewrite !chance_is. now replace (Z.abs_nat (- r)) with (Z.abs_nat r) by lia. Qed.
Lemma chance_q z n : 0 < z -> chance z (Z.of_nat n) / chance z (Z.of_nat (S n)) = q n (z ^ 2) / z.
Proof.
  intros Z. rewrite !chance_is, !Zabs2Nat.id. unfold q. assert (A := J_positive n (z ^ 2) (pow2_ge_0 z)). assert (B := J_positive (S n) (z ^ 2) (pow2_ge_0 z)).
  assert (E := exp_pos (- z)). assert (N : 0 < z ^ n) by now apply pow_lt. change (z ^ S n) with (z * z ^ n). field. repeat split; lra.
Qed.
Lemma ratio_q z n : 0 < z -> ratio z (Z.of_nat (S n)) = ln (q n (z ^ 2) / z).
Proof. intros Z. unfold ratio. replace (Z.of_nat (S n) - 1)%Z with (Z.of_nat n) by lia. now rewrite chance_q. Qed.
Lemma ratio_zero z : 0 < z -> ratio z 0 = - ratio z 1.
Proof.
  intros Z. unfold ratio. change (0 - 1)%Z with (- (1))%Z. change (1 - 1)%Z with 0%Z. rewrite chance_even.
  assert (A := chance_positive z 0 Z). assert (B := chance_positive z 1 Z). rewrite <- ln_Rinv by now apply Rdiv_lt_0_compat. f_equal. field. split; lra.
Qed.

(** P[R = r] is even, and falls in |r|. *)
Lemma chance_falls z n : 0 < z -> chance z (Z.of_nat (S n)) < chance z (Z.of_nat n).
Proof.
  intros Z. assert (E := chance_q z n Z). assert (A := chance_positive z (Z.of_nat (S n)) Z). assert (U := decreasing n (z ^ 2) (pow2_ge_0 z)).
  assert (P := q_positive n (z ^ 2) (pow2_ge_0 z)). assert (1 < q n (z ^ 2) / z).
  { apply Rmult_lt_reg_r with z; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra. }
  rewrite <- E in H. apply Rmult_lt_reg_r with (/ chance z (Z.of_nat (S n))); [now apply Rinv_0_lt_compat|]. rewrite Rinv_r by lra. exact H.
Qed.

Lemma ln_power x n : 0 < x -> ln (x ^ n) = INR n * ln x.
Proof. intros X. rewrite <- Rpower_pow by exact X. unfold Rpower. apply ln_exp. Qed.
(** Lemma "Ratios are concave in the order". *)
Theorem concave z : 0 < z -> Concave z.
Proof.
  intros Z r H. assert (Y := pow2_ge_0 z). assert (Z2 : 0 < z ^ 2) by now apply pow_lt.
  assert (T : exists n, r = Z.of_nat (S n)) by (exists (Z.to_nat r - 1)%nat; lia). destruct T as [n ->].
  destruct n as [|n].
  - change (Z.of_nat 1 - 1)%Z with 0%Z. rewrite ratio_zero by exact Z. change (Z.of_nat 1 + 1)%Z with (Z.of_nat 2). change 1%Z with (Z.of_nat 1).
    rewrite !ratio_q by exact Z. assert (P := q_positive 0 (z ^ 2) Y). assert (P' := q_positive 1 (z ^ 2) Y). assert (C := concave_zero (z ^ 2) Y).
    rewrite !ln_div by lra. assert (L := ln_increasing _ _ ltac:(apply Rmult_lt_0_compat; [exact Z2 | exact P']) C).
    rewrite ln_mult in L by lra. rewrite ?(ln_power z), !ln_power in L by lra. simpl INR in L. lra.
  - replace (Z.of_nat (S (S n)) + 1)%Z with (Z.of_nat (S (S (S n)))) by lia. replace (Z.of_nat (S (S n)) - 1)%Z with (Z.of_nat (S n)) by lia.
    rewrite !ratio_q by exact Z. assert (P := q_positive n (z ^ 2) Y). assert (P' := q_positive (S n) (z ^ 2) Y). assert (P'' := q_positive (S (S n)) (z ^ 2) Y).
    assert (C := concave_up n (z ^ 2) Y). rewrite !ln_div by lra. assert (L := ln_increasing _ _ ltac:(apply Rmult_lt_0_compat; [exact P'' | exact P]) C).
    rewrite ln_mult in L by lra. rewrite ?(ln_power z), !ln_power in L by lra. simpl INR in L. lra.
Qed.
Example concave_instance : ratio 1 2 - 2 * ratio 1 1 + ratio 1 0 < 0.
Proof. exact (concave 1 ltac:(lra) 1%Z ltac:(lia)). Qed.
