(** What random features and a signal set say against each other when many patches vote: pairs of inputs whose
    votes are opposite, and a convex risk. In the limit of many patches: N+ and N- are Poisson, R = N+ - N-. *)
(** In the book: ours-certified-faces. *)
From Coq Require Import Reals ZArith Lra Lia Classical.
From Coquelicot Require Import Coquelicot.
From Book Require Import Bessel.
Open Scope R_scope.

(** * The definitions *)

(** A sum over all integers, and the mean of phi (N+, N-): the pairs with N+ - N- = r together. *)
Definition over (phi : Z -> R) : R := Series (fun n => phi (Z.of_nat n)) + Series (fun n => phi (- Z.of_nat (S n))%Z).
Definition E (z : R) (phi : nat -> nat -> R) : R :=
  over (fun r => Series (fun j => pair z r j * phi (plus_part r j) (minus_part r j))).
Definition diff (a b : nat) : Z := (Z.of_nat a - Z.of_nat b)%Z.
Definition vote (a b : nat) : R := IZR (diff a b).
Definition count (a b : nat) : R := INR (a + b).
(** The weight of an input with the output x: the slope of the logistic loss. *)
Definition weight (x : R) : R := / (1 + exp x).

(** * Sums over the integers *)

Definition ok (phi : Z -> R) := ex_series (fun n => phi (Z.of_nat n)) /\ ex_series (fun n => phi (- Z.of_nat (S n))%Z).
Lemma over_ext f g : (forall r, f r = g r) -> over f = over g.
Proof. intros H. unfold over. f_equal; apply Series_ext; intros; apply H. Qed.
Lemma ok_ext f g : (forall r, f r = g r) -> ok f -> ok g.
Proof. intros H [A B]. split; [apply (ex_series_ext _ _ (fun n => H _) A) | apply (ex_series_ext _ _ (fun n => H _) B)]. Qed.
Lemma ok_plus f g : ok f -> ok g -> ok (fun r => f r + g r).
Proof. intros [A B] [C D]. split; [exact (ex_series_plus _ _ A C) | exact (ex_series_plus _ _ B D)]. Qed.
Lemma over_plus f g : ok f -> ok g -> over (fun r => f r + g r) = over f + over g.
Proof. intros [A B] [C D]. unfold over. rewrite !Series_plus by assumption. ring. Qed.
Lemma ok_times k f : ok f -> ok (fun r => k * f r).
Proof. intros [A B]. split; [exact (@ex_series_scal_l R_AbsRing R_NormedModule k _ A) | exact (@ex_series_scal_l R_AbsRing R_NormedModule k _ B)]. Qed.
Lemma over_times k f : over (fun r => k * f r) = k * over f.
Proof. unfold over. rewrite !Series_scal_l. ring. Qed.
Lemma over_nonneg f : ok f -> (forall r, 0 <= f r) -> 0 <= over f.
Proof. intros [A B] H. unfold over. apply Rplus_le_le_0_compat; apply series_nonneg; intros; auto. Qed.
Lemma over_le f g : ok f -> ok g -> (forall r, f r <= g r) -> over f <= over g.
Proof.
  intros A B H. assert (K := over_nonneg (fun r => g r + -1 * f r) ltac:(apply ok_plus; [exact B | now apply ok_times]) ltac:(intros r; generalize (H r); lra)).
  rewrite over_plus, over_times in K; [lra | exact B | now apply ok_times].
Qed.
Lemma over_positive f : ok f -> (forall r, 0 < f r) -> 0 < over f.
Proof.
  intros [A B] H. unfold over. apply Rlt_le_trans with (f 0%Z + 0); [generalize (H 0%Z); lra|]. apply Rplus_le_compat.
  - apply (series_above (fun n => f (Z.of_nat n))); [intros; left; apply H | exact A].
  - apply series_nonneg; [intros; left; apply H | exact B].
Qed.

(** The sum cut at any place. *)
Definition upper (f : Z -> R) (c : Z) (n : nat) := f (c + Z.of_nat n)%Z.
Definition lower (f : Z -> R) (c : Z) (n : nat) := f (c - 1 - Z.of_nat n)%Z.
Definition cut f c := ex_series (upper f c) /\ ex_series (lower f c) /\ over f = Series (upper f c) + Series (lower f c).
Lemma shifted_series a b x : a 0%nat = x -> (forall n, b n = a (S n)) ->
  (ex_series a <-> ex_series b) /\ (ex_series a -> Series a = x + Series b).
Proof.
  intros A B. split.
  - rewrite (ex_series_incr_1 a). split; apply ex_series_ext; intros n; now rewrite B.
  - intros H. now rewrite (Series_incr_1 a H), (Series_ext _ _ B), A.
Qed.
Lemma up_step f c : (ex_series (upper f c) <-> ex_series (upper f (c + 1))) /\ (ex_series (upper f c) -> Series (upper f c) = f c + Series (upper f (c + 1))).
Proof. apply shifted_series; intros; unfold upper; f_equal; lia. Qed.
Lemma down_step f c : (ex_series (lower f (c + 1)) <-> ex_series (lower f c)) /\ (ex_series (lower f (c + 1)) -> Series (lower f (c + 1)) = f c + Series (lower f c)).
Proof. apply shifted_series; intros; unfold lower; f_equal; lia. Qed.
Lemma cut_step f c : cut f c <-> cut f (c + 1).
Proof.
  destruct (up_step f c) as [U1 U2]. destruct (down_step f c) as [D1 D2]. unfold cut. split; intros [A [B H]].
  - assert (B' := proj2 D1 B). split; [tauto|]. split; [exact B'|]. rewrite H, (U2 A), (D2 B'). ring.
  - assert (A' := proj2 U1 A). split; [exact A'|]. split; [tauto|]. rewrite H, (U2 A'), (D2 B). ring.
Qed.
Lemma cut_anywhere f c : ok f -> cut f c.
Proof.
  intros [A B]. assert (Z0 : cut f 0).
  { assert (U : forall n, upper f 0 n = f (Z.of_nat n)) by (intros; reflexivity).
    assert (D : forall n, lower f 0 n = f (- Z.of_nat (S n))%Z) by (intros; unfold lower; f_equal; lia).
    split; [exact (ex_series_ext _ _ (fun n => eq_sym (U n)) A)|]. split; [exact (ex_series_ext _ _ (fun n => eq_sym (D n)) B)|].
    unfold over. now rewrite (Series_ext _ _ U), (Series_ext _ _ D). }
  revert c. apply Z.bi_induction; [now intros x y -> | exact Z0 | intros c; rewrite <- Z.add_1_r; apply cut_step].
Qed.

(** Pairs: r = i + n and r = - (i + n + K), whose N = r + K / 2 are opposite. *)
Definition first (K i : Z) (f : Z -> R) := (2 * i + K = 1)%Z \/ ((2 * i + K = 2)%Z /\ f (i - 1)%Z = 0).
Definition paired (K i : Z) (f : Z -> R) (n : nat) := f (i + Z.of_nat n)%Z + f (- (i + Z.of_nat n + K))%Z.
Lemma over_paired K i f : ok f -> first K i f -> ex_series (paired K i f) /\ over f = Series (paired K i f).
Proof.
  intros O F. assert (X : exists d, (forall n, d n = f (- (i + Z.of_nat n + K))%Z) /\ ex_series d /\ Series (lower f i) = Series d).
  { destruct F as [F | [F Z0]].
    - exists (lower f i). destruct (cut_anywhere f i O) as [_ [B _]]. repeat split; [|exact B]. intros n. unfold lower. f_equal. lia.
    - exists (lower f (i - 1)). destruct (cut_anywhere f (i - 1) O) as [_ [B _]]. repeat split; [|exact B|].
      + intros n. unfold lower. f_equal. lia.
      + destruct (down_step f (i - 1)) as [D1 D2]. replace (i - 1 + 1)%Z with i in * by lia. rewrite D2 by tauto. rewrite Z0. ring. }
  destruct X as [d [D [Ed Sd]]]. destruct (cut_anywhere f i O) as [A [_ H]].
  assert (P : forall n, upper f i n + d n = paired K i f n) by (intros n; unfold upper, paired; now rewrite D). split.
  - apply (ex_series_ext _ _ P). exact (ex_series_plus _ _ A Ed).
  - rewrite H, Sd, <- (Series_ext _ _ P). now rewrite Series_plus.
Qed.

(** * What is summable against the law of R *)

Definition tame (F : Z -> R) := exists A B, 0 <= A /\ 0 <= B /\ forall r, Rabs (F r) <= A * exp (B * INR (Z.abs_nat r)).
Lemma tame_ext F G : (forall r, F r = G r) -> tame F -> tame G.
Proof. intros H [A [B [a [b K]]]]. exists A, B. repeat split; auto. intros r. rewrite <- H. apply K. Qed.
Lemma tame_bounded F k : (forall r, Rabs (F r) <= k) -> tame F.
Proof.
  intros H. exists k, 0. assert (0 <= k) by (eapply Rle_trans; [apply Rabs_pos | apply (H 0%Z)]).
  repeat split; [assumption | lra|]. intros r. rewrite Rmult_0_l, exp_0. generalize (H r). lra.
Qed.
Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof. intros [H | ->]; [left; now apply exp_increasing | right; reflexivity]. Qed.
Lemma tame_times F G : tame F -> tame G -> tame (fun r => F r * G r).
Proof.
  intros [A [B [a [b K]]]] [A' [B' [a' [b' K']]]]. exists (A * A'), (B + B'). repeat split; [nra | lra|].
  intros r. rewrite Rabs_mult, Rmult_plus_distr_r, exp_plus. specialize (K r). specialize (K' r).
  replace (A * A' * (exp (B * INR (Z.abs_nat r)) * exp (B' * INR (Z.abs_nat r)))) with ((A * exp (B * INR (Z.abs_nat r))) * (A' * exp (B' * INR (Z.abs_nat r)))) by ring.
  apply Rmult_le_compat; auto using Rabs_pos.
Qed.
Lemma tame_plus F G : tame F -> tame G -> tame (fun r => F r + G r).
Proof.
  intros [A [B [a [b K]]]] [A' [B' [a' [b' K']]]]. exists (A + A'), (B + B'). repeat split; [lra | lra|].
  intros r. specialize (K r). specialize (K' r). assert (N := pos_INR (Z.abs_nat r)).
  assert (X := exp_le (B * INR (Z.abs_nat r)) ((B + B') * INR (Z.abs_nat r)) ltac:(nra)).
  assert (Y := exp_le (B' * INR (Z.abs_nat r)) ((B + B') * INR (Z.abs_nat r)) ltac:(nra)).
  generalize (Rabs_triang (F r) (G r)). intros T. nra.
Qed.
Lemma tame_shift F k : tame F -> tame (fun r => F (r + k)%Z).
Proof.
  intros [A [B [a [b X]]]]. exists (A * exp (B * INR (Z.abs_nat k))), B. assert (Y := exp_pos (B * INR (Z.abs_nat k))). repeat split; [nra | exact b|].
  intros r. eapply Rle_trans; [apply X|]. rewrite Rmult_assoc, <- exp_plus. apply Rmult_le_compat_l; [exact a|]. apply exp_le.
  rewrite <- Rmult_plus_distr_l. apply Rmult_le_compat_l; [exact b|]. rewrite <- plus_INR. apply le_INR. lia.
Qed.
Lemma tame_const k : tame (fun _ => k).
Proof. apply tame_bounded with (Rabs k). intros. lra. Qed.
Lemma tame_id : tame IZR.
Proof.
  exists 1, 1. repeat split; try lra. intros r. rewrite Rmult_1_l, Rmult_1_l.
  replace (Rabs (IZR r)) with (INR (Z.abs_nat r)); [generalize (exp_ineq1_le (INR (Z.abs_nat r))); lra|].
  rewrite INR_IZR_INZ, <- abs_IZR. f_equal. lia.
Qed.
Lemma tame_pow F n : tame F -> tame (fun r => F r ^ n).
Proof. intros H. induction n as [|n IH]; [exact (tame_const 1)|]. exact (tame_times _ _ H IH). Qed.
Lemma weight_range x : 0 < weight x < 1.
Proof.
  unfold weight. assert (P := exp_pos x). split; [apply Rinv_0_lt_compat; lra|]. rewrite <- Rinv_1. apply Rinv_lt_contravar; lra.
Qed.
Lemma tame_weight h : tame (fun r => weight (h r)).
Proof. apply tame_bounded with 1. intros r. generalize (weight_range (h r)). intros. rewrite Rabs_pos_eq; lra. Qed.

Lemma exp_series x : is_series (fun j => x ^ j / INR (fact j)) (exp x).
Proof.
  apply (is_series_ext (fun j => scal (pow_n x j) (/ INR (fact j)))); [|apply is_exp_Reals].
  intros j. rewrite pow_n_pow. reflexivity.
Qed.
Lemma J_above n y : 0 <= y -> J n y <= exp y / INR (fact n).
Proof.
  intros Y. rewrite <- (is_series_unique _ _ (exp_series y)). unfold Rdiv at 1. rewrite <- Series_scal_r. unfold J, PSeries. apply Series_le.
  - intros j. assert (A := INR_fact_lt_0 j). assert (B := INR_fact_lt_0 n). assert (F : INR (fact n) <= INR (fact (j + n))) by (apply le_INR, fact_le; lia).
    assert (P : 0 <= y ^ j) by now apply pow_le. split; [apply Rmult_le_pos; [left; apply c_positive | exact P]|]. unfold c.
    replace (y ^ j / INR (fact j) * / INR (fact n)) with (/ (INR (fact j) * INR (fact n)) * y ^ j) by (field; lra).
    apply Rmult_le_compat_r; [exact P|]. apply Rinv_le_contravar; [now apply Rmult_lt_0_compat|]. now apply Rmult_le_compat_l; [left|].
  - apply ex_series_scal_r. eexists. apply exp_series.
Qed.

(** ** A sequence that turns from + to - once, under weights that rise *)

Lemma series_at a k : (forall n, 0 <= a n) -> ex_series a -> a k <= Series a.
Proof.
  revert a. induction k as [|k IH]; intros a H X; [now apply series_above|]. rewrite (Series_incr_1 a X).
  generalize (H 0%nat), (IH (fun n => a (S n)) (fun n => H (S n)) (proj1 (ex_series_incr_1 a) X)). lra.
Qed.
Lemma ex_opp a : ex_series a -> ex_series (fun n => -1 * a n).
Proof. apply (@ex_series_scal_l R_AbsRing R_NormedModule (-1)). Qed.
Lemma series_at_most a k : (forall n, a n <= 0) -> ex_series a -> Series a <= a k.
Proof.
  intros H X. generalize (series_at (fun n => -1 * a n) k ltac:(intros n; generalize (H n); lra) (ex_opp a X)).
  rewrite Series_scal_l. lra.
Qed.
Lemma Series_le' a b : (forall n, a n <= b n) -> ex_series a -> ex_series b -> Series a <= Series b.
Proof.
  intros H A B. assert (X := series_nonneg (fun n => b n + -1 * a n) ltac:(intros n; generalize (H n); lra) (ex_series_plus _ _ B (ex_opp a A))).
  rewrite Series_plus, Series_scal_l in X; [lra | exact B | exact (ex_opp a A)].
Qed.
Lemma pow_strict k x y : (1 <= k)%nat -> 0 <= x -> x < y -> x ^ k < y ^ k.
Proof.
  intros K X H. destruct k as [|k]; [lia|]. clear K. induction k as [|k IH]; [lra|]. change (x * x ^ S k < y * y ^ S k).
  assert (0 <= x ^ S k) by now apply pow_le. nra.
Qed.
Lemma crossing a t : (forall n, a n <= 0 -> a (S n) < 0) -> 0 < t 0%nat -> (forall n, t n < t (S n)) ->
  ex_series a -> ex_series (fun n => t n * a n) -> 0 <= Series (fun n => t n * a n) -> 0 < Series a.
Proof.
  intros H T0 T A B S0. assert (Tp : forall n, 0 < t n) by (induction n as [|n IH]; [exact T0 | generalize (T n); lra]).
  assert (Tm : forall i j, (i <= j)%nat -> t i <= t j) by (intros i j L; induction L as [|j L IH]; [lra | generalize (T j); lra]).
  assert (Hm : forall i j, a i <= 0 -> (i < j)%nat -> a j < 0).
  { intros i j N L. induction L as [|j L IH]; [now apply H | apply H; lra]. }
  destruct (classic (exists n, a n <= 0)) as [[n N] | None].
  - assert (F : exists n, a n <= 0 /\ forall k, (k < n)%nat -> 0 < a k).
    { clear - N. induction n as [n IH] using lt_wf_ind. destruct (classic (exists k, (k < n)%nat /\ a k <= 0)) as [[k [L K]] | Z0]; [exact (IH k L K)|].
      exists n. split; [exact N|]. intros k L. destruct (Rlt_le_dec 0 (a k)); [assumption | exfalso; eauto]. }
    clear n N. destruct F as [[|n] [N F]].
    + exfalso. assert (a 1%nat < 0) by now apply H. assert (X := series_at_most (fun n => t n * a n) 1 ltac:(intros [|n]; [generalize (Tp 0%nat); nra | generalize (Hm 0%nat (S n) N ltac:(lia)), (Tp (S n)); nra]) B).
      cbv beta in X. generalize (Tp 1%nat). nra.
    + set (b := fun k => t k * a k + - t (S n) * a k). assert (Eb : ex_series b).
      { apply (ex_series_plus (fun k => t k * a k) (fun k => - t (S n) * a k)); [exact B|]. exact (@ex_series_scal_l R_AbsRing R_NormedModule (- t (S n)) _ A). }
      assert (Sb : Series b = Series (fun k => t k * a k) - t (S n) * Series a).
      { unfold b. rewrite Series_plus, Series_scal_l; [ring | exact B | exact (@ex_series_scal_l R_AbsRing R_NormedModule (- t (S n)) _ A)]. }
      assert (Nb : forall k, b k <= 0).
      { intros k. unfold b. destruct (le_lt_dec (S n) k) as [L | L].
        - assert (t (S n) <= t k) by now apply Tm. assert (a k <= 0). { destruct (Nat.eq_dec k (S n)) as [-> | D]; [exact N | left; apply (Hm (S n)); [exact N | lia]]. } nra.
        - assert (t k <= t (S n)) by (apply Tm; lia). generalize (F k L). nra. }
      assert (X := series_at_most b 0 Nb Eb). assert (b 0%nat < 0).
      { unfold b. assert (t 0%nat < t (S n)) by (apply Rlt_le_trans with (t 1%nat); [apply T | apply Tm; lia]). generalize (F 0%nat ltac:(lia)). nra. }
      generalize (Tp (S n)). nra.
  - assert (Pa : forall n, 0 < a n) by (intros n; destruct (Rlt_le_dec 0 (a n)); [assumption | exfalso; eauto]).
    apply Rlt_le_trans with (a 0%nat); [apply Pa|]. apply series_above; [intros; left; apply Pa | exact A].
Qed.

Section Law.
Variable z : R.
Hypothesis z_positive : 0 < z.
Notation P := (chance z).

Lemma chance_below r : P r <= exp (z ^ 2) * (z ^ Z.abs_nat r / INR (fact (Z.abs_nat r))).
Proof.
  rewrite chance_is. set (n := Z.abs_nat r). assert (H := J_above n (z ^ 2) (pow2_ge_0 z)). assert (X : 0 < exp (- z) <= 1).
  { split; [apply exp_pos|]. rewrite <- exp_0. apply exp_le. lra. }
  assert (N : 0 < z ^ n) by now apply pow_lt. assert (Jp := J_positive n (z ^ 2) (pow2_ge_0 z)).
  apply Rle_trans with (1 * z ^ n * J n (z ^ 2)).
  - apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_r; [lra|]. nra.
  - replace (exp (z ^ 2) * (z ^ n / INR (fact n))) with (z ^ n * (exp (z ^ 2) / INR (fact n))) by (unfold Rdiv; ring). rewrite Rmult_1_l. apply Rmult_le_compat_l; lra.
Qed.
Lemma ok_law F : tame F -> ok (fun r => P r * F r).
Proof.
  intros [A [B [a [b K]]]]. set (x := z * exp B).
  assert (T : forall r, Rabs (P r * F r) <= exp (z ^ 2) * A * (x ^ Z.abs_nat r / INR (fact (Z.abs_nat r)))).
  { intros r. rewrite Rabs_mult, (Rabs_pos_eq (P r)) by (left; now apply chance_positive).
    specialize (K r). assert (C := chance_below r). assert (C0 := chance_positive z r z_positive). set (n := Z.abs_nat r) in *.
    assert (Ex : exp (B * INR n) = exp B ^ n). { rewrite <- Rpower_pow by apply exp_pos. unfold Rpower. rewrite ln_exp. f_equal. ring. }
    apply Rle_trans with (exp (z ^ 2) * (z ^ n / INR (fact n)) * (A * exp (B * INR n))).
    - apply Rmult_le_compat; auto using Rabs_pos. lra.
    - right. rewrite Ex. unfold x. rewrite Rpow_mult_distr. unfold Rdiv. ring. }
  assert (S0 : ex_series (fun n => exp (z ^ 2) * A * (x ^ n / INR (fact n)))).
  { apply (@ex_series_scal_l R_AbsRing R_NormedModule). eexists. apply exp_series. }
  split.
  - apply (ex_series_le (V := R_CompleteNormedModule)) with (2 := S0). intros n. specialize (T (Z.of_nat n)). rewrite Zabs2Nat.id in T. exact T.
  - apply (ex_series_le (V := R_CompleteNormedModule)) with (2 := proj1 (ex_series_incr_1 _) S0). intros n. specialize (T (- Z.of_nat (S n))%Z).
    replace (Z.abs_nat (- Z.of_nat (S n))) with (S n) in T by lia. exact T.
Qed.

(** The mean of a function of R. *)
Definition mean (F : Z -> R) := over (fun r => P r * F r).
Lemma diff_is r j : diff (plus_part r j) (minus_part r j) = r.
Proof. unfold diff, plus_part, minus_part. lia. Qed.
Lemma E_diff (F : Z -> R) : E z (fun a b => F (diff a b)) = mean F.
Proof.
  apply over_ext. intros r. unfold chance. rewrite <- Series_scal_r. apply Series_ext. intros j. now rewrite diff_is.
Qed.
Lemma mean_ext F G : (forall r, F r = G r) -> mean F = mean G.
Proof. intros H. apply over_ext. intros r. now rewrite H. Qed.
Lemma mean_plus F G : tame F -> tame G -> mean (fun r => F r + G r) = mean F + mean G.
Proof.
  intros A B. unfold mean. rewrite <- over_plus by now apply ok_law. apply over_ext. intros r. ring.
Qed.
Lemma mean_times k F : mean (fun r => k * F r) = k * mean F.
Proof. unfold mean. rewrite <- over_times. apply over_ext. intros r. ring. Qed.
Lemma mean_le F G : tame F -> tame G -> (forall r, F r <= G r) -> mean F <= mean G.
Proof.
  intros A B H. apply over_le; try now apply ok_law. intros r. apply Rmult_le_compat_l; [left; now apply chance_positive | apply H].
Qed.
Lemma mean_positive F : tame F -> (forall r, 0 < F r) -> 0 < mean F.
Proof. intros A H. apply over_positive; [now apply ok_law|]. intros r. apply Rmult_lt_0_compat; [now apply chance_positive | apply H]. Qed.

(** * Lemma "Log-odds" *)

Definition delta (j : Z) := 2 * ln (P j) - ln (P (j + 1)) - ln (P (j - 1)).
Lemma ratio_is r : ratio z r = ln (P (r - 1)) - ln (P r).
Proof. unfold ratio. rewrite ln_div by now apply chance_positive. reflexivity. Qed.
Lemma delta_even j : delta (- j) = delta j.
Proof.
  unfold delta. replace (- j + 1)%Z with (- (j - 1))%Z by lia. replace (- j - 1)%Z with (- (j + 1))%Z by lia. rewrite !chance_even. ring.
Qed.
Lemma delta_step j : (0 <= j)%Z -> delta (j + 1) < delta j.
Proof.
  intros H. assert (C := concave z z_positive (j + 1)%Z ltac:(lia)). rewrite !ratio_is in C. unfold delta.
  replace (j + 1 + 1 - 1)%Z with (j + 1)%Z in C by lia. replace (j + 1 - 1 - 1)%Z with (j - 1)%Z in C by lia.
  replace (j + 1 - 1)%Z with j in * by lia. lra.
Qed.
Lemma delta_falls i j : (Z.abs i < Z.abs j)%Z -> delta j < delta i.
Proof.
  assert (K : forall n i, (0 <= i)%Z -> delta (i + Z.of_nat (S n)) < delta i).
  { induction n as [|n IH]; intros k H; [now apply delta_step|]. apply Rlt_trans with (delta (k + Z.of_nat (S n))); [|now apply IH].
    replace (k + Z.of_nat (S (S n)))%Z with (k + Z.of_nat (S n) + 1)%Z by lia. apply delta_step. lia. }
  assert (A : forall k, delta k = delta (Z.abs k)) by (intros k; destruct (Z.abs_spec k) as [[_ ->] | [_ ->]]; [reflexivity | now rewrite delta_even]).
  intros H. rewrite (A i), (A j). replace (Z.abs j) with (Z.abs i + Z.of_nat (S (Z.to_nat (Z.abs j - Z.abs i) - 1)))%Z by lia. apply K. lia.
Qed.

Section Odds.
Variable K : Z.
Hypothesis K_positive : (1 <= K)%Z.
(** k = K / 2, i = m - k: the log-odds of N = m against N = -m. *)
Definition odds (i : Z) := ln (P i / P (i + K)).
Lemma odds_is i : odds i = ln (P i) - ln (P (i + K)).
Proof. apply ln_div; now apply chance_positive. Qed.
Lemma odds_odd i : odds (- (i + K)) = - odds i.
Proof. rewrite !odds_is, chance_even. replace (- (i + K) + K)%Z with (- i)%Z by lia. rewrite chance_even. ring. Qed.
Lemma odds_concave i : (- 2 < 2 * i + K)%Z -> odds (i + 2) - 2 * odds (i + 1) + odds i < 0.
Proof.
  intros H. assert (D := delta_falls (i + 1) (i + 1 + K) ltac:(lia)). unfold delta in D. rewrite !odds_is.
  replace (i + 2 + K)%Z with (i + 1 + K + 1)%Z by lia. replace (i + 2)%Z with (i + 1 + 1)%Z by lia. replace (i + K)%Z with (i + 1 + K - 1)%Z by lia.
  replace (i + 1 - 1)%Z with i in D by lia. lra.
Qed.
Lemma odds_positive i : (0 < 2 * i + K)%Z -> 0 < odds i.
Proof.
  intros H. rewrite odds_is. assert (C : forall n m, (n < m)%nat -> P (Z.of_nat m) < P (Z.of_nat n)).
  { intros n m L. induction L as [|m L IH]; [now apply chance_falls|]. eapply Rlt_trans; [now apply chance_falls | exact IH]. }
  assert (A : forall k, P k = P (Z.of_nat (Z.abs_nat k))) by (intros k; rewrite !chance_is; now rewrite Zabs2Nat.id).
  rewrite (A i), (A (i + K)%Z). assert (L := ln_increasing _ _ (chance_positive z _ z_positive) (C (Z.abs_nat i) (Z.abs_nat (i + K)) ltac:(lia))). lra.
Qed.
Lemma odds_decrease i : (0 < 2 * i + K)%Z -> odds (i + 1) * IZR (2 * i + K) < odds i * IZR (2 * i + K + 2).
Proof.
  intros H. cut ((odds (i + 1) - odds i) * IZR (2 * i + K) < 2 * odds i); [rewrite (plus_IZR (2 * i + K) 2); lra|].
  assert (X : exists n j, (i = j + Z.of_nat n)%Z /\ (2 * j + K = 1 \/ 2 * j + K = 2)%Z).
  { exists (Z.to_nat ((2 * i + K - 1) / 2)), (i - (2 * i + K - 1) / 2)%Z. assert (Q := Z.div_mod (2 * i + K - 1) 2 ltac:(lia)).
    assert (B := Z.mod_pos_bound (2 * i + K - 1) 2 ltac:(lia)). rewrite Z2Nat.id by (apply Z.div_pos; lia). lia. }
  destruct X as [n [j [-> S0]]]. clear H. induction n as [|n IH].
  - rewrite Z.add_0_r. assert (C := odds_concave (j - 1) ltac:(lia)). replace (j - 1 + 2)%Z with (j + 1)%Z in C by lia. replace (j - 1 + 1)%Z with j in C by lia.
    assert (O := odds_odd (j - 1)). destruct S0 as [S0 | S0]; rewrite S0.
    + replace (- (j - 1 + K))%Z with j in O by lia. lra.
    + replace (- (j - 1 + K))%Z with (j - 1)%Z in O by lia. lra.
  - replace (j + Z.of_nat (S n))%Z with (j + Z.of_nat n + 1)%Z by lia. set (k := (j + Z.of_nat n)%Z) in *.
    assert (C := odds_concave k ltac:(unfold k; lia)). replace (k + 1 + 1)%Z with (k + 2)%Z by lia.
    replace (2 * (k + 1) + K)%Z with (2 * k + K + 2)%Z by lia. rewrite (plus_IZR (2 * k + K) 2). assert (0 < IZR (2 * k + K)) by (apply IZR_lt; unfold k; lia). nra.
Qed.

(** * The consequence: pairs *)

Variable w : Z -> R.
Hypothesis w_range : forall r, 0 < w r < 1.
(** The logarithm of the weights, over m, does not fall. *)
Definition tilt (i : Z) := ln (w (- (i + K))%Z / w i).
Hypothesis w_tilt : forall i, (0 < 2 * i + K)%Z -> tilt i * IZR (2 * i + K + 2) <= tilt (i + 1) * IZR (2 * i + K).
Definition gain (i : Z) := P i * w i - P (i + K) * w (- (i + K))%Z.
Lemma gain_sign i : (gain i <= 0 <-> odds i <= tilt i) /\ (gain i < 0 <-> odds i < tilt i).
Proof.
  assert (A := chance_positive z i z_positive). assert (B := chance_positive z (i + K) z_positive). assert (W := w_range i). assert (W' := w_range (- (i + K))).
  unfold gain, odds, tilt. rewrite !ln_div by lra.
  assert (L : ln (P i * w i) = ln (P i) + ln (w i)) by (apply ln_mult; lra).
  assert (L' : ln (P (i + K) * w (- (i + K))%Z) = ln (P (i + K)) + ln (w (- (i + K))%Z)) by (apply ln_mult; lra).
  assert (X : 0 < P i * w i) by (apply Rmult_lt_0_compat; lra). assert (X' : 0 < P (i + K) * w (- (i + K))%Z) by (apply Rmult_lt_0_compat; lra).
  repeat split; intros H.
  - assert (G : P i * w i <= P (i + K) * w (- (i + K))%Z) by lra. destruct G as [G | G]; [apply ln_increasing in G; lra | rewrite G in L; lra].
  - assert (G : ln (P i * w i) <= ln (P (i + K) * w (- (i + K))%Z)) by lra. destruct G as [G | G]; [apply ln_lt_inv in G; lra | apply ln_inv in G; lra].
  - assert (G : P i * w i < P (i + K) * w (- (i + K))%Z) by lra. apply ln_increasing in G; lra.
  - assert (G : ln (P i * w i) < ln (P (i + K) * w (- (i + K))%Z)) by lra. apply ln_lt_inv in G; lra.
Qed.
Lemma gain_turns_once i : (0 < 2 * i + K)%Z -> gain i <= 0 -> gain (i + 1) < 0.
Proof.
  intros H G. apply gain_sign. apply (gain_sign i) in G. assert (D := odds_decrease i H). assert (T := w_tilt i H).
  rewrite (plus_IZR (2 * i + K) 2) in *. assert (0 < IZR (2 * i + K)) by (apply IZR_lt; lia). nra.
Qed.

Definition N (r : Z) := IZR r + IZR K / 2.
Lemma N_first i : N i = IZR (2 * i + K) / 2.
Proof. unfold N. rewrite plus_IZR, mult_IZR. field. Qed.
Lemma N_mirror i : N (- (i + K)) = - N i.
Proof. unfold N. rewrite opp_IZR, plus_IZR. field. Qed.
Lemma odd_opp p x : Nat.Odd p -> (- x) ^ p = - x ^ p.
Proof. intros [k ->]. rewrite Nat.add_1_r. cbn [pow]. rewrite !pow_mult. replace ((- x) ^ 2) with (x ^ 2) by ring. ring. Qed.
Lemma tame_N : tame N.
Proof. apply (tame_plus IZR (fun _ => IZR K / 2)); [apply tame_id | apply tame_const]. Qed.
Lemma tame_w : tame w.
Proof. apply tame_bounded with 1. intros r. generalize (w_range r). intros. rewrite Rabs_pos_eq; lra. Qed.

(** The first pair. *)
Definition start := (1 - (K + 1) / 2)%Z.
Lemma start_right : (2 * start + K = 1 \/ 2 * start + K = 2)%Z.
Proof. unfold start. assert (Q := Z.div_mod (K + 1) 2 ltac:(lia)). assert (B := Z.mod_pos_bound (K + 1) 2 ltac:(lia)). lia. Qed.
Definition m (n : nat) := N (start + Z.of_nat n).
Definition g (n : nat) := gain (start + Z.of_nat n).
Lemma m_positive n : 0 < m n.
Proof. unfold m. rewrite N_first. assert (0 < IZR (2 * (start + Z.of_nat n) + K)); [apply IZR_lt; generalize start_right; lia | lra]. Qed.
Lemma m_rises n : m n < m (S n).
Proof. unfold m, N. apply Rplus_lt_compat_r, IZR_lt. lia. Qed.
Lemma g_turns n : g n <= 0 -> g (S n) < 0.
Proof.
  unfold g. intros H. replace (start + Z.of_nat (S n))%Z with (start + Z.of_nat n + 1)%Z by lia. apply gain_turns_once; [generalize start_right; lia | exact H].
Qed.
(** Any odd function of N. *)
Lemma mean_pairs (F : Z -> R) : tame F -> (forall i, F (- (i + K))%Z = - F i) ->
  ex_series (fun n => F (start + Z.of_nat n)%Z * g n) /\ mean (fun r => w r * F r) = Series (fun n => F (start + Z.of_nat n)%Z * g n).
Proof.
  intros T O. assert (X : forall n, paired K start (fun r => P r * (w r * F r)) n = F (start + Z.of_nat n)%Z * g n).
  { intros n. unfold paired, g, gain. rewrite O, chance_even. ring. }
  destruct (over_paired K start (fun r => P r * (w r * F r))) as [A B].
  - apply ok_law. apply tame_times; [exact tame_w | exact T].
  - destruct start_right as [H | H]; [left; exact H | right]. split; [exact H|].
    assert (F (start - 1)%Z = 0); [|rewrite H0; ring]. generalize (O (start - 1)%Z). replace (- (start - 1 + K))%Z with (start - 1)%Z by lia. lra.
  - split; [exact (ex_series_ext _ _ X A)|]. unfold mean. rewrite B. apply Series_ext, X.
Qed.
Lemma mean_powers j : Nat.Odd j -> ex_series (fun n => m n ^ j * g n) /\ mean (fun r => w r * N r ^ j) = Series (fun n => m n ^ j * g n).
Proof.
  intros H. apply (mean_pairs (fun r => N r ^ j)); [apply tame_pow, tame_N|]. intros i. now rewrite N_mirror, odd_opp.
Qed.
Lemma means_powers i j : Nat.Odd i -> Nat.Odd j -> (i < j)%nat -> 0 <= mean (fun r => w r * N r ^ j) -> 0 < mean (fun r => w r * N r ^ i).
Proof.
  intros I J L. destruct (mean_powers i I) as [A ->]. destruct (mean_powers j J) as [B ->]. intros H.
  assert (Q : forall n, m n ^ j * g n = m n ^ (j - i) * (m n ^ i * g n)) by (intros n; rewrite <- Rmult_assoc, <- pow_add; do 2 f_equal; lia).
  apply (crossing _ (fun n => m n ^ (j - i))).
  - intros n G. cbv beta in *. assert (M1 := pow_lt _ i (m_positive n)). assert (M2 := pow_lt _ i (m_positive (S n))).
    assert (T := g_turns n ltac:(nra)). nra.
  - apply pow_lt, m_positive.
  - intros n. apply pow_strict; [lia | left; apply m_positive | apply m_rises].
  - exact A.
  - exact (ex_series_ext _ _ Q B).
  - now rewrite <- (Series_ext _ _ Q).
Qed.
End Odds.

(** * Weights of odd outputs *)

Lemma weight_opp x : weight (- x) = exp x * weight x.
Proof. unfold weight. rewrite exp_Ropp. assert (A := exp_pos x). field. lra. Qed.
Section Output.
Variables (K : Z) (h : Z -> R).
Hypothesis K_positive : (1 <= K)%Z.
Hypothesis h_odd : forall i, h (- (i + K))%Z = - h i.
Hypothesis h_rises : forall i, (0 < 2 * i + K)%Z -> h i * IZR (2 * i + K + 2) <= h (i + 1)%Z * IZR (2 * i + K).
Lemma output_range r : 0 < weight (h r) < 1. Proof. apply weight_range. Qed.
Lemma output_tilt i : tilt K (fun r => weight (h r)) i = h i.
Proof.
  unfold tilt. rewrite h_odd, weight_opp. assert (A := weight_range (h i)).
  replace (exp (h i) * weight (h i) / weight (h i)) with (exp (h i)) by (field; lra). apply ln_exp.
Qed.
Lemma output_tilts i : (0 < 2 * i + K)%Z -> tilt K (fun r => weight (h r)) i * IZR (2 * i + K + 2) <= tilt K (fun r => weight (h r)) (i + 1) * IZR (2 * i + K).
Proof. rewrite !output_tilt. apply h_rises. Qed.
End Output.


Definition M (C : nat) (r : Z) := IZR r + INR C.
Lemma M_is C r : M C r = N (2 * Z.of_nat C) r.
Proof. unfold M, N. rewrite mult_IZR, <- INR_IZR_INZ. field. Qed.
Lemma M_below C K r : (2 * Z.of_nat C <= K)%Z -> M C r <= N K r.
Proof. intros H. apply IZR_le in H. rewrite mult_IZR, <- INR_IZR_INZ in H. unfold M, N. lra. Qed.
Lemma tame_M C : tame (M C).
Proof. apply (tame_plus IZR (fun _ => INR C)); [apply tame_id | apply tame_const]. Qed.
Lemma odd_grows p x y : Nat.Odd p -> x <= y -> x ^ p <= y ^ p.
Proof.
  intros O H. destruct (Rle_lt_dec 0 x) as [X | X]; [apply pow_incr; lra|].
  assert (Ex : x ^ p = - (- x) ^ p) by (rewrite odd_opp by exact O; ring). destruct (Rle_lt_dec 0 y) as [Y | Y].
  - generalize (pow_le (- x) p ltac:(lra)), (pow_le y p Y). lra.
  - assert (Ey : y ^ p = - (- y) ^ p) by (rewrite odd_opp by exact O; ring). generalize (pow_incr (- y) (- x) p ltac:(lra)). lra.
Qed.
Lemma linear_rises K s i : (s * N K i) * IZR (2 * i + K + 2) <= (s * N K (i + 1)%Z) * IZR (2 * i + K).
Proof.
  rewrite !N_first. replace (2 * (i + 1) + K)%Z with (2 * i + K + 2)%Z by lia. right. field.
Qed.
Lemma powers_rise K u p i : 0 <= u -> Nat.Odd p -> (0 < 2 * i + K)%Z -> (u * N K i ^ p) * IZR (2 * i + K + 2) <= (u * N K (i + 1)%Z ^ p) * IZR (2 * i + K).
Proof.
  intros U [k ->] H. rewrite Nat.add_1_r. rewrite !N_first. replace (2 * (i + 1) + K)%Z with (2 * i + K + 2)%Z by lia.
  assert (X := IZR_lt _ _ H). rewrite (plus_IZR _ 2). set (x := IZR (2 * i + K)) in *.
  assert (Y : (x / 2) ^ (2 * k) <= ((x + 2) / 2) ^ (2 * k)) by (apply pow_incr; lra).
  change ((x / 2) ^ S (2 * k)) with (x / 2 * (x / 2) ^ (2 * k)). change (((x + 2) / 2) ^ S (2 * k)) with ((x + 2) / 2 * ((x + 2) / 2) ^ (2 * k)).
  replace (u * (x / 2 * (x / 2) ^ (2 * k)) * (x + 2)) with (u * (x / 2 * (x + 2)) * (x / 2) ^ (2 * k)) by ring.
  replace (u * ((x + 2) / 2 * ((x + 2) / 2) ^ (2 * k)) * x) with (u * (x / 2 * (x + 2)) * ((x + 2) / 2) ^ (2 * k)) by field.
  apply Rmult_le_compat_l; [|exact Y]. apply Rmult_le_pos; [exact U | nra].
Qed.
Lemma odd_one : Nat.Odd 1. Proof. now exists 0%nat. Qed.

(** The barrier of the first move: what decides at large b. *)
Lemma barrier C u p j : (1 <= C)%nat -> 0 <= u -> Nat.Odd p -> Nat.Odd j -> (j < p)%nat ->
  0 <= mean (fun r => weight (u * M C r ^ p) * M C r ^ p) -> 0 < mean (fun r => weight (u * M C r ^ p) * M C r ^ j).
Proof.
  intros C1 U Op Oj L H. assert (K : (1 <= 2 * Z.of_nat C)%Z) by lia.
  assert (Q : forall i, mean (fun r => weight (u * M C r ^ p) * M C r ^ i) = mean (fun r => weight (u * N (2 * Z.of_nat C) r ^ p) * N (2 * Z.of_nat C) r ^ i)).
  { intros i. apply mean_ext. intros r. now rewrite M_is. }
  rewrite Q in *. apply (means_powers _ K (fun r => weight (u * N (2 * Z.of_nat C) r ^ p))) with p; try assumption.
  - intros r. apply weight_range.
  - apply (output_tilts _ (fun r => u * N (2 * Z.of_nat C) r ^ p)).
    + intros i. rewrite N_mirror, odd_opp by exact Op. ring.
    + intros i I. now apply powers_rise.
Qed.

Section Convex.
Variables (C p : nat) (K : Z).
Hypothesis C_positive : (1 <= C)%nat.
Hypothesis K_large : (2 * Z.of_nat C <= K)%Z.
Hypothesis p_odd : Nat.Odd p.
Hypothesis p_large : (3 <= p)%nat.
Let K_positive : (1 <= K)%Z. Proof. lia. Qed.

Lemma tame_wN s j : tame (fun r => weight (s * N K r) * N K r ^ j).
Proof. apply tame_times; [apply (tame_weight (fun r => s * N K r)) | apply tame_pow, tame_N]. Qed.
Lemma first_power s : mean (fun r => weight (s * N K r) * N K r) = mean (fun r => weight (s * N K r) * N K r ^ 1).
Proof. apply mean_ext. intros r. ring. Qed.
Lemma tilts_linear s : forall i, (0 < 2 * i + K)%Z -> tilt K (fun r => weight (s * N K r)) i * IZR (2 * i + K + 2) <= tilt K (fun r => weight (s * N K r)) (i + 1) * IZR (2 * i + K).
Proof.
  apply (output_tilts _ (fun r => s * N K r)); [intros i; rewrite N_mirror; ring | intros i _; apply linear_rises].
Qed.
Lemma alone s : mean (fun r => weight (s * N K r) * N K r) = 0 -> mean (fun r => weight (s * N K r) * M C r ^ p) < 0.
Proof.
  intros Z0. apply Rle_lt_trans with (mean (fun r => weight (s * N K r) * N K r ^ p)).
  - apply mean_le; [apply tame_times; [apply (tame_weight (fun r => s * N K r)) | apply tame_pow, tame_M] | apply tame_wN|].
    intros r. apply Rmult_le_compat_l; [generalize (weight_range (s * N K r)); lra|]. apply odd_grows; [exact p_odd | now apply M_below].
  - apply Rnot_le_lt. intros H. rewrite first_power in Z0.
    assert (X := means_powers K K_positive _ (fun r => weight_range _) (tilts_linear s) 1 p odd_one p_odd ltac:(lia) H). lra.
Qed.
End Convex.

(** * The logistic loss lies above its tangents *)

Definition loss (x : R) := ln (1 + exp (- x)).
Lemma loss_slope x : is_derive loss x (- weight x).
Proof.
  assert (A := exp_pos x). assert (B := exp_pos (- x)). unfold loss, weight. auto_derive; [lra|]. rewrite exp_Ropp. field. lra.
Qed.
Lemma weight_falls x y : x <= y -> weight y <= weight x.
Proof. intros H. unfold weight. assert (A := exp_pos x). assert (L := exp_le x y H). apply Rinv_le_contravar; lra. Qed.
Lemma loss_tangent x y : loss x - weight x * (y - x) <= loss y.
Proof.
  destruct (MVT_gen loss x y (fun c => - weight c)) as [c [[A B] D]].
  - intros t _. apply loss_slope.
  - intros t _. apply continuity_pt_filterlim. apply (ex_derive_continuous loss). eexists. apply loss_slope.
  - cbv beta in D. destruct (Rle_lt_dec x y) as [H | H].
    + rewrite Rmin_left in A by exact H. generalize (weight_falls x c A). intros W. nra.
    + rewrite Rmax_left in B by lra. generalize (weight_falls c x B). intros W. nra.
Qed.
Lemma tame_below F G : (forall r, Rabs (F r) <= Rabs (G r)) -> tame G -> tame F.
Proof. intros H [A [B [a [b X]]]]. exists A, B. repeat split; auto. intros r. eapply Rle_trans; [apply H | apply X]. Qed.
Lemma tame_abs F : tame F -> tame (fun r => Rabs (F r)).
Proof. apply tame_below. intros r. rewrite Rabs_Rabsolu. lra. Qed.
Lemma tame_loss F : tame F -> tame (fun r => loss (F r)).
Proof.
  intros T. apply (tame_below _ (fun r => 1 + Rabs (F r))); [|apply (tame_plus (fun _ => 1)); [apply tame_const | now apply tame_abs]].
  intros r. unfold loss. set (x := F r). assert (A := exp_pos (- x)). assert (P0 := Rabs_pos x).
  assert (0 < ln (1 + exp (- x))) by (rewrite <- ln_1; apply ln_increasing; lra). rewrite !Rabs_pos_eq by lra.
  apply Rle_trans with (ln (exp (1 + Rabs x))); [|rewrite ln_exp; lra].
  assert (U : 1 + exp (- x) <= exp (1 + Rabs x)).
  { rewrite exp_plus. assert (X := exp_ineq1_le (Rabs x)). assert (Y := exp_le (- x) (Rabs x) ltac:(generalize (Rle_abs (- x)); rewrite Rabs_Ropp; lra)). generalize (exp_ineq1_le 1). nra. }
  destruct U as [U | ->]; [left; apply ln_increasing; lra | lra].
Qed.
Lemma mean_tangent F G : tame F -> tame G ->
  mean (fun r => loss (F r)) - mean (fun r => weight (F r) * (G r + -1 * F r)) <= mean (fun r => loss (G r)).
Proof.
  intros A B. assert (T : tame (fun r => weight (F r) * (G r + -1 * F r))).
  { apply tame_times; [now apply tame_weight|]. apply tame_plus; [exact B|]. apply (tame_times (fun _ => -1)); [apply tame_const | exact A]. }
  assert (L := mean_le (fun r => loss (F r)) (fun r => loss (G r) + weight (F r) * (G r + -1 * F r))). rewrite mean_plus in L.
  - assert (X : mean (fun r => loss (F r)) <= mean (fun r => loss (G r)) + mean (fun r => weight (F r) * (G r + -1 * F r))); [|lra].
    apply L; [now apply tame_loss | apply tame_plus; [now apply tame_loss | exact T]|]. intros r. generalize (loss_tangent (F r) (G r)). lra.
  - now apply tame_loss.
  - exact T.
Qed.

(** * The best strength exists *)

Lemma weight_lipschitz x y : Rabs (weight x - weight y) <= Rabs (x - y).
Proof.
  assert (S0 : forall t, is_derive weight t (- (exp t / (1 + exp t) ^ 2))).
  { intros t. assert (A := exp_pos t). unfold weight. auto_derive; [lra|]. field. lra. }
  destruct (MVT_gen weight y x (fun t => - (exp t / (1 + exp t) ^ 2))) as [c [_ D]].
  - intros t _. apply S0.
  - intros t _. apply continuity_pt_filterlim. apply (ex_derive_continuous weight). eexists. apply S0.
  - rewrite D, Rabs_mult. rewrite <- (Rmult_1_l (Rabs (x - y))) at 2. apply Rmult_le_compat_r; [apply Rabs_pos|].
    assert (A := exp_pos c). assert (B : 0 < (1 + exp c) ^ 2) by (apply pow_lt; lra). rewrite Rabs_Ropp, Rabs_pos_eq.
    + apply Rmult_le_reg_r with ((1 + exp c) ^ 2); [exact B|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
    + left. now apply Rdiv_lt_0_compat.
Qed.
Lemma mean_abs F : tame F -> Rabs (mean F) <= mean (fun r => Rabs (F r)).
Proof.
  intros T. assert (A := tame_abs F T). apply Rabs_le. split.
  - assert (X := mean_le (fun r => -1 * Rabs (F r)) F ltac:(apply (tame_times (fun _ => -1)); [apply tame_const | exact A]) T ltac:(intros r; generalize (Rle_abs (- F r)); rewrite Rabs_Ropp; lra)).
    rewrite mean_times in X. lra.
  - apply mean_le; [exact T | exact A|]. intros r. apply Rle_abs.
Qed.
Section BestStrength.
Variable psi : Z -> R.
Hypothesis psi_tame : tame psi.
Definition pull v := mean (fun r => weight (v * psi r) * psi r).
Lemma tame_pull v : tame (fun r => weight (v * psi r) * psi r).
Proof. apply tame_times; [apply (tame_weight (fun r => v * psi r)) | exact psi_tame]. Qed.
Lemma pull_lipschitz x y : Rabs (pull x - pull y) <= mean (fun r => psi r ^ 2) * Rabs (x - y).
Proof.
  unfold pull. assert (D : mean (fun r => weight (x * psi r) * psi r) - mean (fun r => weight (y * psi r) * psi r) = mean (fun r => weight (x * psi r) * psi r + -1 * (weight (y * psi r) * psi r))).
  { rewrite mean_plus, mean_times; [ring | apply tame_pull | apply (tame_times (fun _ => -1)); [apply tame_const | apply tame_pull]]. }
  assert (T : tame (fun r => weight (x * psi r) * psi r + -1 * (weight (y * psi r) * psi r))).
  { apply tame_plus; [apply tame_pull | apply (tame_times (fun _ => -1)); [apply tame_const | apply tame_pull]]. }
  rewrite D. eapply Rle_trans; [now apply mean_abs|]. rewrite Rmult_comm, <- mean_times. apply mean_le.
  - now apply tame_abs.
  - apply (tame_times (fun _ => Rabs (x - y))); [apply tame_const | now apply tame_pow].
  - intros r. replace (weight (x * psi r) * psi r + -1 * (weight (y * psi r) * psi r)) with ((weight (x * psi r) - weight (y * psi r)) * psi r) by ring.
    rewrite Rabs_mult. generalize (weight_lipschitz (x * psi r) (y * psi r)). replace (x * psi r - y * psi r) with ((x - y) * psi r) by ring.
    rewrite Rabs_mult. intros W. rewrite <- (pow2_abs (psi r)). generalize (Rabs_pos (psi r)). nra.
Qed.
Lemma pull_continuous : continuity pull.
Proof.
  intros x. set (k := mean (fun r => psi r ^ 2)). assert (K0 : 0 <= k).
  { unfold k. generalize (mean_le (fun _ => 0 * 0) (fun r => psi r ^ 2) (tame_const _) (tame_pow _ 2 psi_tame) ltac:(intros r; generalize (pow2_ge_0 (psi r)); lra)).
    rewrite mean_times. lra. }
  intros eps He. exists (eps / (k + 1)). split; [apply Rdiv_lt_0_compat; lra|]. intros y [_ Y]. change (Rabs (pull y - pull x) < eps). change (Rabs (y - x) < eps / (k + 1)) in Y.
  eapply Rle_lt_trans; [apply pull_lipschitz|]. fold k. clearbody k. apply Rle_lt_trans with ((k + 1) * Rabs (y - x)); [generalize (Rabs_pos (y - x)); nra|].
  apply Rlt_le_trans with ((k + 1) * (eps / (k + 1))); [apply Rmult_lt_compat_l; lra | right; field; lra].
Qed.
Lemma over_at f r : ok f -> (forall r, 0 <= f r) -> f r <= over f.
Proof.
  intros O H. destruct (cut_anywhere f r O) as [A [B ->]]. assert (X := series_above (upper f r) ltac:(intros; apply H) A). unfold upper at 1 in X. rewrite Z.add_0_r in X.
  generalize (series_nonneg (lower f r) ltac:(intros; apply H) B). lra.
Qed.
Lemma best_exists r : 0 < mean psi -> psi r < 0 -> exists v, 0 < v /\ pull v = 0.
Proof.
  intros Up Dn. assert (Z0 : 0 < pull 0).
  { unfold pull. rewrite (mean_ext _ (fun r => / 2 * psi r)); [rewrite mean_times; lra|]. intros t. rewrite Rmult_0_l. unfold weight. rewrite exp_0. replace (1 + 1) with 2 by ring. reflexivity. }
  set (low := fun r => Rmax (- psi r) 0). assert (Tl : tame low).
  { apply (tame_below _ psi); [|exact psi_tame]. intros t. unfold low. destruct (Rle_lt_dec 0 (psi t)) as [X | X].
    - rewrite Rmax_right by lra. rewrite Rabs_R0. apply Rabs_pos.
    - rewrite Rmax_left by lra. rewrite Rabs_Ropp. lra. }
  assert (L : 0 < mean low). { apply Rlt_le_trans with (P r * low r).
    - apply Rmult_lt_0_compat; [now apply chance_positive | unfold low; rewrite Rmax_left; lra].
    - apply (over_at (fun r => P r * low r)); [now apply ok_law|]. intros t. apply Rmult_le_pos; [left; now apply chance_positive | apply Rmax_r]. }
  assert (One : 0 < mean (fun _ => 1)) by (apply mean_positive; [apply tame_const | intros; lra]).
  set (v := 1 + 2 * mean (fun _ => 1) / mean low). assert (V : 1 < v) by (unfold v; assert (0 < 2 * mean (fun _ => 1) / mean low) by (apply Rdiv_lt_0_compat; lra); lra).
  assert (Nv : pull v < 0).
  { apply Rle_lt_trans with (mean (fun r => / v * 1 + - / 2 * low r)).
    - apply mean_le; [apply tame_pull | apply tame_plus; [apply tame_const | apply (tame_times (fun _ => - / 2)); [apply tame_const | exact Tl]]|].
      intros t. unfold low. assert (Vi : 0 < / v) by (apply Rinv_0_lt_compat; lra). destruct (Rle_lt_dec 0 (psi t)) as [X | X].
      + rewrite Rmax_right by lra. apply Rmult_le_reg_l with v; [lra|]. rewrite Rmult_plus_distr_l, <- (Rmult_assoc v (/ v)), Rinv_r by lra.
        assert (Y : weight (v * psi t) * (v * psi t) <= 1); [|nra]. set (x := v * psi t). unfold weight. assert (Q := exp_ineq1_le x). assert (Q' := exp_pos x).
        apply Rmult_le_reg_l with (1 + exp x); [lra|]. rewrite <- Rmult_assoc, Rinv_r by lra. lra.
      + rewrite Rmax_left by lra. assert (Y : / 2 <= weight (v * psi t)); [|nra]. replace (/ 2) with (weight 0); [apply weight_falls; nra|]. unfold weight. rewrite exp_0. replace (1 + 1) with 2 by ring. reflexivity.
    - rewrite mean_plus, !mean_times; [| apply tame_const | apply (tame_times (fun _ => - / 2)); [apply tame_const | exact Tl]].
      assert (X : / v * mean (fun _ => 1) < / 2 * mean low); [|lra]. apply Rmult_lt_reg_l with v; [lra|]. rewrite <- Rmult_assoc, Rinv_r by lra.
      unfold v. replace ((1 + 2 * mean (fun _ => 1) / mean low) * (/ 2 * mean low)) with (/ 2 * mean low + mean (fun _ => 1)) by (field; lra). lra. }
  destruct (IVT (fun t => - pull t) 0 v) as [s [S1 S2]]; try lra.
  - apply (continuity_opp pull), pull_continuous.
  - exists s. assert (s <> 0) by (intros ->; lra). split; lra.
Qed.
End BestStrength.

(** * Lemma "The best strength overrates the vote" *)

Lemma mean_two w F G a b : tame w -> tame F -> tame G -> mean (fun r => w r * (a * F r + b * G r)) = a * mean (fun r => w r * F r) + b * mean (fun r => w r * G r).
Proof.
  intros W A B. rewrite (mean_ext _ (fun r => a * (w r * F r) + b * (w r * G r))) by (intros; ring).
  rewrite mean_plus, !mean_times; [reflexivity | apply (tame_times (fun _ => a)) | apply (tame_times (fun _ => b))]; try apply tame_const; now apply tame_times.
Qed.
Lemma mean_weighted h F G a b : tame F -> tame G ->
  mean (fun r => weight (h r) * (a * F r + b * G r)) = a * mean (fun r => weight (h r) * F r) + b * mean (fun r => weight (h r) * G r).
Proof. exact (mean_two (fun r => weight (h r)) F G a b (tame_weight h)). Qed.
Lemma powers_positive K j : (1 <= K)%Z -> Nat.Odd j -> 0 < mean (fun r => N K r ^ j).
Proof.
  intros K1 Oj. destruct (mean_powers K (fun _ => / 2) ltac:(intros; lra) j Oj) as [A B]. rewrite mean_times in B.
  assert (G : forall n, 0 < m K n ^ j * g K (fun _ => / 2) n).
  { intros n. apply Rmult_lt_0_compat; [apply pow_lt; now apply m_positive|]. unfold g, gain. set (i := (start K + Z.of_nat n)%Z).
    assert (O := odds_positive K K1 i ltac:(generalize (start_right K); unfold i; lia)). rewrite odds_is in O.
    assert (P (i + K)%Z < P i); [|lra]. apply ln_lt_inv; [now apply chance_positive | now apply chance_positive | lra]. }
  assert (X := series_above _ (fun n => Rlt_le _ _ (G n)) A). generalize (G 0%nat). cbv beta in X. lra.
Qed.
Lemma N_positive K : (1 <= K)%Z -> 0 < mean (N K).
Proof. intros K1. rewrite (mean_ext _ (fun r => N K r ^ 1)) by (intros; ring). apply powers_positive; [exact K1 | exact odd_one]. Qed.
Lemma N_low K : (1 <= K)%Z -> N K (- K) < 0.
Proof. intros K1. unfold N. rewrite opp_IZR. apply IZR_le in K1. lra. Qed.

Section Both.
Variables (C p : nat) (K : Z).
Hypothesis C_positive : (1 <= C)%nat.
Hypothesis K_large : (2 * Z.of_nat C <= K)%Z.
Hypothesis p_odd : Nat.Odd p.
Hypothesis p_large : (3 <= p)%nat.
Let K1 : (1 <= K)%Z. Proof. lia. Qed.

Definition output s u r := s * N K r + u * M C r ^ p.
Lemma tame_output s u : tame (output s u).
Proof.
  apply tame_plus; [apply (tame_times (fun _ => s)); [apply tame_const | apply tame_N] | apply (tame_times (fun _ => u)); [apply tame_const | apply tame_pow, tame_M]].
Qed.
Lemma both s u : 0 < s -> 0 < u -> mean (fun r => weight (output s u r) * output s u r) = 0 ->
  0 < mean (fun r => weight (output s u r) * N K r) /\ mean (fun r => weight (output s u r) * M C r ^ p) < 0.
Proof.
  intros S0 U Z0. destruct (best_exists (N K) (tame_N K) (- K) (N_positive K K1) (N_low K K1)) as [s1 [P1 Z1]]. unfold pull in Z1.
  assert (Al := alone C p K C_positive K_large p_odd p_large s1 Z1).
  assert (Tm : tame (fun r => M C r ^ p)) by apply tame_pow, tame_M. assert (Tn := tame_N K).
  assert (T1 : tame (fun r => s1 * N K r)) by (apply (tame_times (fun _ => s1)); [apply tame_const | exact Tn]).
  assert (A := mean_tangent (fun r => s1 * N K r) (output s u) T1 (tame_output s u)).
  assert (B := mean_tangent (output s u) (fun r => s1 * N K r) (tame_output s u) T1). cbv beta in A, B.
  rewrite (mean_ext (fun r => weight (s1 * N K r) * (output s u r + -1 * (s1 * N K r))) (fun r => weight (s1 * N K r) * ((s - s1) * N K r + u * M C r ^ p))) in A by (intros; unfold output; ring).
  rewrite (mean_weighted (fun r => s1 * N K r) (N K) (fun r => M C r ^ p) (s - s1) u Tn Tm) in A.
  rewrite (mean_weighted (output s u) (N K) (output s u) s1 (-1) Tn (tame_output s u)) in B.
  assert (Z' : mean (fun r => weight (output s u r) * (s * N K r + u * M C r ^ p)) = 0) by exact Z0.
  rewrite (mean_weighted (output s u) (N K) (fun r => M C r ^ p) s u Tn Tm) in Z'.
  set (n0 := mean (fun r => weight (output s u r) * N K r)) in *. set (m0 := mean (fun r => weight (output s u r) * M C r ^ p)) in *.
  assert (Q : 0 < n0) by nra. split; [exact Q | nra].
Qed.
End Both.

(** * The number of features given the vote *)

Definition fill (r : Z) := INR (Z.abs_nat r) + 2 * (z ^ 2 / q (Z.abs_nat r) (z ^ 2)).
Lemma count_is r j : count (plus_part r j) (minus_part r j) = INR (Z.abs_nat r) + 2 * INR j.
Proof.
  unfold count, plus_part, minus_part. rewrite <- (mult_INR 2), <- plus_INR. f_equal. destruct r as [|r|r]; simpl Z.to_nat; simpl Z.abs_nat; lia.
Qed.
Lemma J_first n y : ex_series (fun j => INR j * (c n j * y ^ j)) /\ Series (fun j => INR j * (c n j * y ^ j)) = y * J (S n) y.
Proof.
  assert (T : forall j, INR (S j) * (c n (S j) * y ^ S j) = y * (c (S n) j * y ^ j)).
  { intros j. rewrite c_next. unfold c. replace (j + S n)%nat with (S (j + n)) by lia. change (S j + n)%nat with (S (j + n)). rewrite fact_simpl, mult_INR.
    assert (A := INR_fact_lt_0 j). assert (B := INR_fact_lt_0 (j + n)). assert (X := lt_0_INR (S j) ltac:(lia)). assert (Y := lt_0_INR (S (j + n)) ltac:(lia)).
    change (y ^ S j) with (y * y ^ j). field. repeat split; lra. }
  assert (X : ex_series (fun j => y * (c (S n) j * y ^ j))) by (apply (@ex_series_scal_l R_AbsRing R_NormedModule y), ex_J_series).
  assert (X' : ex_series (fun j => INR j * (c n j * y ^ j))).
  { apply (ex_series_incr_1 (fun j => INR j * (c n j * y ^ j))). exact (ex_series_ext _ _ (fun j => eq_sym (T j)) X). }
  split; [exact X'|]. rewrite (Series_incr_1 _ X'), (Series_ext _ _ T), Series_scal_l. unfold J, PSeries. simpl INR. ring.
Qed.
Lemma count_mean r : Series (fun j => pair z r j * count (plus_part r j) (minus_part r j)) = P r * fill r.
Proof.
  set (n := Z.abs_nat r). set (k := exp (- z) ^ 2 * z ^ n).
  rewrite (Series_ext _ (fun j => (k * INR n) * (c n j * (z ^ 2) ^ j) + (k * 2) * (INR j * (c n j * (z ^ 2) ^ j)))).
  - destruct (J_first n (z ^ 2)) as [A B]. rewrite Series_plus, !Series_scal_l, B.
    + rewrite chance_is. fold n. fold k. unfold fill. fold n. change (Series (fun j => c n j * (z ^ 2) ^ j)) with (J n (z ^ 2)). unfold q.
      assert (X := J_positive n (z ^ 2) (pow2_ge_0 z)). assert (Y := J_positive (S n) (z ^ 2) (pow2_ge_0 z)). field. lra.
    + apply (@ex_series_scal_l R_AbsRing R_NormedModule (k * INR n)), ex_J_series.
    + exact (@ex_series_scal_l R_AbsRing R_NormedModule (k * 2) _ A).
  - intros j. rewrite pair_is, count_is. fold n. unfold k. ring.
Qed.
Lemma E_count (F : Z -> R) : E z (fun a b => count a b * F (diff a b)) = mean (fun r => fill r * F r).
Proof.
  apply over_ext. intros r. rewrite <- Rmult_assoc, <- count_mean, <- Series_scal_r. apply Series_ext. intros j. rewrite diff_is. ring.
Qed.
Lemma ex_count r : ex_series (fun j => pair z r j * count (plus_part r j) (minus_part r j)).
Proof.
  set (n := Z.abs_nat r). set (k := exp (- z) ^ 2 * z ^ n).
  assert (Q : forall j, (k * INR n) * (c n j * (z ^ 2) ^ j) + (k * 2) * (INR j * (c n j * (z ^ 2) ^ j)) = pair z r j * count (plus_part r j) (minus_part r j)).
  { intros j. rewrite pair_is, count_is. fold n. unfold k. ring. }
  apply (ex_series_ext _ _ Q), (ex_series_plus (V := R_NormedModule)).
  - apply (@ex_series_scal_l R_AbsRing R_NormedModule (k * INR n)), ex_J_series.
  - exact (@ex_series_scal_l R_AbsRing R_NormedModule (k * 2) _ (proj1 (J_first n (z ^ 2)))).
Qed.
Lemma E_both F G : tame fill -> tame F -> tame G ->
  E z (fun a b => F (diff a b) + count a b * G (diff a b)) = mean F + mean (fun r => fill r * G r).
Proof.
  intros Tf A B. rewrite <- mean_plus; [|exact A | now apply tame_times]. apply over_ext. intros r.
  rewrite (Series_ext _ (fun j => pair z r j * F r + pair z r j * count (plus_part r j) (minus_part r j) * G r)) by (intros j; rewrite diff_is; ring).
  rewrite (Series_plus (fun j => pair z r j * F r) (fun j => pair z r j * count (plus_part r j) (minus_part r j) * G r)).
  - rewrite !Series_scal_r, count_mean. unfold chance. ring.
  - apply ex_series_scal_r, ex_pair.
  - apply (ex_series_scal_r (G r) (fun j => pair z r j * count (plus_part r j) (minus_part r j))), ex_count.
Qed.
Lemma fill_even r : fill (- r) = fill r.
Proof. unfold fill. now replace (Z.abs_nat (- r)) with (Z.abs_nat r) by lia. Qed.
Lemma fill_positive r : 0 < fill r.
Proof.
  unfold fill. assert (A := pos_INR (Z.abs_nat r)). assert (B := q_positive (Z.abs_nat r) (z ^ 2) (pow2_ge_0 z)).
  assert (0 < z ^ 2 / q (Z.abs_nat r) (z ^ 2)) by (apply Rdiv_lt_0_compat; [now apply pow_lt | exact B]). lra.
Qed.
Lemma fill_step n : fill (Z.of_nat n) < fill (Z.of_nat (S n)).
Proof.
  unfold fill. rewrite !Zabs2Nat.id. assert (Y := pow2_ge_0 z). assert (D := spread n (z ^ 2) Y). assert (R0 := q_recurrence n (z ^ 2) Y). rewrite S_INR in *. lra.
Qed.
Lemma fill_rises i j : (Z.abs i < Z.abs j)%Z -> fill i < fill j.
Proof.
  assert (A : forall k, fill k = fill (Z.of_nat (Z.abs_nat k))) by (intros k; unfold fill; now rewrite Zabs2Nat.id).
  intros H. rewrite (A i), (A j). assert (L : (Z.abs_nat i < Z.abs_nat j)%nat) by lia. induction L as [|m L IH]; [apply fill_step | eapply Rlt_trans; [exact IH | apply fill_step]].
Qed.
Lemma tame_fill : tame fill.
Proof.
  apply (tame_below _ (fun r => Rabs (IZR r) + 2 * z ^ 2)).
  - intros r. assert (F := fill_positive r). assert (Z2 : 0 < z ^ 2) by now apply pow_lt. rewrite !Rabs_pos_eq by (generalize (Rabs_pos (IZR r)); lra).
    unfold fill. assert (E0 : INR (Z.abs_nat r) = Rabs (IZR r)) by (rewrite INR_IZR_INZ, <- abs_IZR; f_equal; lia). rewrite E0.
    set (n := Z.abs_nat r). assert (Q : 1 <= q n (z ^ 2)).
    { rewrite q_recurrence by lra. assert (B := q_positive (S n) (z ^ 2) ltac:(lra)). assert (0 < z ^ 2 / q (S n) (z ^ 2)) by (apply Rdiv_lt_0_compat; lra). rewrite S_INR. generalize (pos_INR n). lra. }
    assert (z ^ 2 / q n (z ^ 2) <= z ^ 2); [|lra]. apply Rmult_le_reg_r with (q n (z ^ 2)); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
  - apply (tame_plus (fun r => Rabs (IZR r))); [apply tame_abs, tame_id | apply tame_const].
Qed.
Section Counts.
Variables (C : nat) (K : Z) (s : R).
Hypothesis K_large : (2 * Z.of_nat C <= K)%Z.
Hypothesis K1 : (1 <= K)%Z.
Hypothesis zero : mean (fun r => weight (s * N K r) * N K r) = 0.
Let w r := weight (s * N K r).
Lemma counts_N : mean (fun r => w r * (fill r * N K r)) < 0.
Proof.
  set (a := fun n => m K n * g K w n). set (t := fun n => fill (start K + Z.of_nat n + K)%Z).
  assert (W : forall r, 0 < w r < 1) by (intros; apply weight_range).
  destruct (mean_powers K w W 1 odd_one) as [A1 B1]. unfold w in B1. rewrite <- first_power, zero in B1. fold w in B1.
  assert (Ea : forall n, m K n ^ 1 * g K w n = a n) by (intros; unfold a; ring).
  assert (A : ex_series a) by exact (ex_series_ext _ _ Ea A1). assert (Sa : Series a = 0) by (rewrite <- (Series_ext _ _ Ea); lra).
  assert (O : ok (fun r => P r * (w r * (fill r * N K r)))).
  { apply ok_law, tame_times; [apply (tame_weight (fun r => s * N K r)) | apply tame_times; [apply tame_fill | apply tame_N]]. }
  destruct (over_paired K (start K) _ O) as [Ep Sp].
  { destruct (start_right K) as [H | H]; [left; exact H | right; split; [exact H|]]. assert (N K (start K - 1) = 0); [|rewrite H0; ring].
    rewrite N_first. replace (2 * (start K - 1) + K)%Z with 0%Z by lia. lra. }
  assert (Low : forall n, paired K (start K) (fun r => P r * (w r * (fill r * N K r))) n < t n * a n).
  { intros n. unfold paired, a, t, g, gain. fold (m K n). set (i := (start K + Z.of_nat n)%Z) in *. rewrite N_mirror, chance_even, fill_even. fold i. unfold m. fold i.
    assert (Mp := m_positive K n). unfold m in Mp. fold i in Mp. assert (F := fill_rises i (i + K) ltac:(generalize (start_right K); unfold i; lia)).
    assert (Pp := chance_positive z i z_positive). assert (Wp := W i).
    assert (0 < P i * w i * N K i) by (repeat apply Rmult_lt_0_compat; lra). nra. }
  destruct (Rle_lt_dec 0 (mean (fun r => w r * (fill r * N K r)))) as [H | H]; [exfalso | exact H].
  unfold mean in H. rewrite Sp in H.
  assert (Et : ex_series (fun n => t n * a n)).
  { (* fill (i + K) g m is dominated by the law *) 
    assert (T := ok_law (fun r => fill (r + K) * (w r * N K r) )). 
    assert (Q : forall n, upper (fun r => P r * (fill (r + K) * (w r * N K r))) (start K) n + -1 * (upper (fun r => P (r + K) * (fill (r + K) * (w (- (r + K))%Z * N K r))) (start K) n) = t n * a n).
    { intros n. unfold upper, t, a, g, gain, m. ring. }
    apply (ex_series_ext _ _ Q). apply (ex_series_plus (V := R_NormedModule)).
    - apply cut_anywhere, T. apply tame_times; [apply tame_shift, tame_fill | apply tame_times; [apply (tame_weight (fun r => s * N K r)) | apply tame_N]].
    - apply ex_opp. assert (Q' : forall n, upper (fun r => P r * (fill r * (w (- r)%Z * N K (r - K)))) (start K + K) n = upper (fun r => P (r + K) * (fill (r + K) * (w (- (r + K))%Z * N K r))) (start K) n).
      { intros n. unfold upper. replace (start K + K + Z.of_nat n)%Z with (start K + Z.of_nat n + K)%Z by lia. do 4 f_equal. lia. }
      apply (ex_series_ext _ _ Q'). apply cut_anywhere, ok_law. apply tame_times; [apply tame_fill|]. apply tame_times; [apply (tame_weight (fun r => s * N K (- r))) |].
      apply (tame_ext (fun r => IZR r + (IZR K / 2 - IZR K))); [intros r; unfold N; rewrite minus_IZR; ring | apply (tame_plus IZR); [apply tame_id | apply tame_const]]. }
  assert (X : 0 < Series a); [|lra]. apply (crossing a t).
  - intros n G. unfold a in *. assert (M1 := m_positive K n). assert (M2 := m_positive K (S n)).
    assert (T := g_turns K K1 w W (tilts_linear K s) n ltac:(nra)). nra.
  - unfold t. apply fill_positive.
  - intros n. unfold t. apply fill_rises. generalize (start_right K). lia.
  - exact A.
  - exact Et.
  - apply Rle_trans with (1 := H). apply Series_le'; [intros n; left; apply Low | exact Ep | exact Et].
Qed.
Lemma counts_M : mean (fun r => w r * (fill r * M C r)) < 0.
Proof.
  apply Rle_lt_trans with (2 := counts_N). apply mean_le.
  - apply tame_times; [apply (tame_weight (fun r => s * N K r)) | apply tame_times; [apply tame_fill | apply tame_M]].
  - apply tame_times; [apply (tame_weight (fun r => s * N K r)) | apply tame_times; [apply tame_fill | apply tame_N]].
  - intros r. apply Rmult_le_compat_l; [left; apply weight_range|]. apply Rmult_le_compat_l; [left; apply fill_positive | now apply M_below].
Qed.
Lemma weight_mean : 0 < mean w.
Proof. apply mean_positive; [apply (tame_weight (fun r => s * N K r)) | intros; apply weight_range]. Qed.
Lemma shifted k : mean (fun r => w r * (IZR r + k)) = (k - IZR K / 2) * mean w.
Proof.
  rewrite (mean_ext _ (fun r => w r * (1 * N K r + (k - IZR K / 2) * 1))) by (intros; unfold N; field).
  rewrite (mean_two w (N K) (fun _ => 1)); [| apply (tame_weight (fun r => s * N K r)) | apply tame_N | apply tame_const].
  unfold w at 1. rewrite zero. rewrite (mean_ext (fun r => w r * 1) w) by (intros; ring). ring.
Qed.
End Counts.
End Law.

(** * The statements *)

(** M, the vote of all patches with C of the signal; N = R + k with k = K / 2. *)
Definition all_vote (C : nat) (a b : nat) : R := INR C + vote a b.
Definition above (K : Z) (a b : nat) : R := vote a b + IZR K / 2.

(** Lemma "Log-odds": m - k = i, m + k = i + K, 2 m = 2 i + K. *)
Theorem log_odds z K i : 0 < z -> (1 <= K)%Z -> (0 < 2 * i + K)%Z ->
  0 < ln (chance z i / chance z (i + K)) /\
  ln (chance z (i + 1) / chance z (i + 1 + K)) / IZR (2 * (i + 1) + K) < ln (chance z i / chance z (i + K)) / IZR (2 * i + K).
Proof.
  intros Z K1 I. split; [exact (odds_positive z Z K K1 i I)|]. assert (D := odds_decrease z Z K K1 i I). unfold odds in D.
  replace (2 * (i + 1) + K)%Z with (2 * i + K + 2)%Z by lia. assert (X := IZR_lt _ _ I). assert (Y : 0 < IZR (2 * i + K + 2)) by (apply IZR_lt; lia).
  apply Rmult_lt_reg_r with (IZR (2 * i + K)); [exact X|]. apply Rmult_lt_reg_r with (IZR (2 * i + K + 2)); [exact Y|].
  set (x := IZR (2 * i + K)) in *. set (y := IZR (2 * i + K + 2)) in *.
  match goal with |- ?a / _ * _ * _ < ?b / _ * _ * _ => replace (a / y * x * y) with (a * x) by (field; lra); replace (b / x * x * y) with (b * y) by (field; lra) end.
  exact D.
Qed.
Example log_odds_instance : 0 < ln (chance 1 (-1) / chance 1 (-1 + 3)).
Proof. exact (proj1 (log_odds 1 3 (-1) ltac:(lra) ltac:(lia) ltac:(lia))). Qed.

(** Its consequence, for any weights of the vote whose logarithm of w(-m-k) / w(m-k), over m, does not fall. *)
Theorem pairs z K w i j : 0 < z -> (1 <= K)%Z -> (forall r, 0 < w r < 1) ->
  (forall i, (0 < 2 * i + K)%Z -> ln (w (- (i + K))%Z / w i) / IZR (2 * i + K) <= ln (w (- (i + 1 + K))%Z / w (i + 1)%Z) / IZR (2 * (i + 1) + K)) ->
  Nat.Odd i -> Nat.Odd j -> (i < j)%nat ->
  0 <= E z (fun a b => w (diff a b) * above K a b ^ j) -> 0 < E z (fun a b => w (diff a b) * above K a b ^ i).
Proof.
  intros Z K1 W T I J L. unfold above, vote. rewrite (E_diff z (fun r => w r * (IZR r + IZR K / 2) ^ j)), (E_diff z (fun r => w r * (IZR r + IZR K / 2) ^ i)).
  apply (means_powers z Z K K1 w W); try assumption. clear i j I J L. intros i I. unfold tilt. assert (H := T i I). replace (2 * (i + 1) + K)%Z with (2 * i + K + 2)%Z in H by lia.
  assert (X := IZR_lt _ _ I). assert (Y : 0 < IZR (2 * i + K + 2)) by (apply IZR_lt; lia).
  set (x := IZR (2 * i + K)) in *. set (y := IZR (2 * i + K + 2)) in *. set (a := ln (w (- (i + K))%Z / w i)) in *. set (b := ln (w (- (i + 1 + K))%Z / w (i + 1)%Z)) in *.
  replace (a * y) with (a / x * (x * y)) by (field; lra). replace (b * x) with (b / y * (x * y)) by (field; lra). apply Rmult_le_compat_r; [nra | exact H].
Qed.
Example pairs_instance : 0 < E 1 (fun a b => / 2 * above 5 a b ^ 1).
Proof.
  apply (pairs 1 5 (fun _ => / 2) 1 3); try lia; try lra; try (intros; lra); [| now exists 0%nat | now exists 1%nat |].
  - intros i I. unfold Rdiv at 2 4. rewrite Rinv_r, ln_1 by lra. lra.
  - unfold above, vote. rewrite (E_diff 1 (fun r => / 2 * (IZR r + IZR 5 / 2) ^ 3)), mean_times.
    generalize (powers_positive 1 ltac:(lra) 5 3 ltac:(lia) ltac:(now exists 1%nat)). unfold N. lra.
Qed.

(** Lemma "The best strength overrates the vote", its three parts; in the third J is the number of features. *)
Definition Alone z C p K := forall s, 0 < s -> let w a b := weight (s * above K a b) in
  E z (fun a b => w a b * above K a b) = 0 -> E z (fun a b => w a b * all_vote C a b ^ p) < 0.
Definition Together z C p K := forall s u, 0 < s -> 0 < u -> let w a b := weight (s * above K a b + u * all_vote C a b ^ p) in
  E z (fun a b => w a b * (s * above K a b + u * all_vote C a b ^ p)) = 0 ->
  0 < E z (fun a b => w a b * above K a b) /\ E z (fun a b => w a b * all_vote C a b ^ p) < 0.
Definition Counted z C K := forall s, 0 < s -> let w a b := weight (s * above K a b) in
  E z (fun a b => w a b * above K a b) = 0 ->
  E z (fun a b => w a b * all_vote C a b) <= 0 /\ E z (fun a b => w a b * vote a b) < 0 /\
  E z (fun a b => w a b * (count a b * all_vote C a b)) < 0.
(** The best strength exists. *)
Definition Reached z C p K := (exists s, 0 < s /\ E z (fun a b => weight (s * above K a b) * above K a b) = 0) /\
  exists s u, 0 < s /\ 0 < u /\ E z (fun a b => weight (s * above K a b + u * all_vote C a b ^ p) * (s * above K a b + u * all_vote C a b ^ p)) = 0.

Lemma all_vote_is C a b : all_vote C a b = M C (diff a b).
Proof. unfold all_vote, M, vote. ring. Qed.
Lemma above_is K a b : above K a b = N K (diff a b).
Proof. reflexivity. Qed.
Lemma E_ext z f g : (forall a b, f a b = g a b) -> E z f = E z g.
Proof. intros H. apply over_ext. intros r. apply Series_ext. intros j. now rewrite H. Qed.
Lemma E_mean z f F : (forall a b, f a b = F (diff a b)) -> E z f = mean z F.
Proof. intros H. rewrite (E_ext z f (fun a b => F (diff a b)) H). apply E_diff. Qed.
Lemma E_fill z f F : (forall a b, f a b = count a b * F (diff a b)) -> E z f = mean z (fun r => fill z r * F r).
Proof. intros H. rewrite (E_ext z f _ H). apply E_count. Qed.

Lemma E_times z k f : E z (fun a b => k * f a b) = k * E z f.
Proof. unfold E. rewrite <- over_times. apply over_ext. intros r. rewrite <- Series_scal_l. apply Series_ext. intros j. ring. Qed.

Theorem best_strength z C p K : 0 < z -> (1 <= C)%nat -> (2 * Z.of_nat C <= K)%Z -> Nat.Odd p -> (3 <= p)%nat ->
  Alone z C p K /\ Together z C p K /\ Counted z C K /\ Reached z C p K.
Proof.
  intros Z C1 KC Op P3. assert (K1 : (1 <= K)%Z) by lia. refine (conj _ (conj _ (conj _ (conj _ _)))).

  - intros s S0 w H. unfold w in *. rewrite (E_mean z _ (fun r => weight (s * N K r) * N K r)) in H by reflexivity.
    rewrite (E_mean z _ (fun r => weight (s * N K r) * M C r ^ p)) by (intros; now rewrite all_vote_is). now apply alone.
  - intros s u S0 U w H. unfold w in *. rewrite (E_mean z _ (fun r => weight (output C p K s u r) * output C p K s u r)) in H by (intros; unfold output; now rewrite all_vote_is).
    rewrite (E_mean z _ (fun r => weight (output C p K s u r) * N K r)) by (intros; unfold output; now rewrite all_vote_is).
    rewrite (E_mean z _ (fun r => weight (output C p K s u r) * M C r ^ p)) by (intros; unfold output; now rewrite all_vote_is).
    now apply both.
  - intros s S0 w H. unfold w in *. rewrite (E_mean z _ (fun r => weight (s * N K r) * N K r)) in H by reflexivity.
    assert (W := weight_mean z Z K s). assert (KC' := IZR_le _ _ KC). rewrite mult_IZR, <- INR_IZR_INZ in KC'. assert (K1' := IZR_le _ _ K1). repeat split.
    + rewrite (E_mean z _ (fun r => weight (s * N K r) * (IZR r + INR C))) by (intros; now rewrite all_vote_is). rewrite shifted by assumption. nra.
    + rewrite (E_mean z _ (fun r => weight (s * N K r) * (IZR r + 0))) by (intros; unfold above, vote, N; ring). rewrite shifted by assumption. nra.
    + rewrite (E_fill z _ (fun r => weight (s * N K r) * M C r)) by (intros; rewrite all_vote_is, above_is; ring).
      rewrite (mean_ext z _ (fun r => weight (s * N K r) * (fill z r * M C r))) by (intros; ring). now apply counts_M.
  - destruct (best_exists z Z (N K) (tame_N K) (- K) (N_positive z Z K K1) (N_low K K1)) as [s [S0 H]]. exists s. split; [exact S0|].
    rewrite (E_mean z _ (fun r => weight (s * N K r) * N K r)) by reflexivity. exact H.
  - assert (Q : forall r, output C p K 1 1 r = N K r + M C r ^ p) by (intros; unfold output; ring).
    destruct (best_exists z Z (output C p K 1 1) (tame_output C p K 1 1) (- K)) as [v [V H]].
    + rewrite (mean_ext z _ _ Q), mean_plus; [| exact Z | apply tame_N | apply tame_pow, tame_M].
      generalize (N_positive z Z K K1), (powers_positive z Z (2 * Z.of_nat C) p ltac:(lia) Op). rewrite (mean_ext z (fun r => M C r ^ p) (fun r => N (2 * Z.of_nat C) r ^ p)) by (intros; now rewrite M_is). lra.
    + rewrite Q. assert (B := N_low K K1). assert (MB := M_below C K (- K) KC). assert (G := odd_grows p (M C (- K)) (N K (- K)) Op MB).
      assert (N K (- K) ^ p < 0); [|lra]. replace (N K (- K)) with (- - N K (- K)) by ring. rewrite odd_opp by exact Op. assert (0 < (- N K (- K)) ^ p) by (apply pow_lt; lra). lra.
    + exists v, v. repeat split; try exact V. rewrite (E_mean z _ (fun r => v * (weight (v * output C p K 1 1 r) * output C p K 1 1 r))).
      * rewrite mean_times. unfold pull in H. rewrite H. ring.
      * intros a b. rewrite Q, all_vote_is, above_is. replace (v * N K (diff a b) + v * M C (diff a b) ^ p) with (v * (N K (diff a b) + M C (diff a b) ^ p)) by ring. ring.
Qed.
Example best_strength_instance : exists s, 0 < s /\ E 1 (fun a b => weight (s * above 5 a b) * above 5 a b) = 0 /\
  E 1 (fun a b => weight (s * above 5 a b) * all_vote 2 a b ^ 3) < 0.
Proof.
  destruct (best_strength 1 2 3 5 ltac:(lra) ltac:(lia) ltac:(lia) ltac:(now exists 1%nat) ltac:(lia)) as [A [_ [_ [[s [S0 H]] _]]]].
  exists s. repeat split; [exact S0 | exact H | exact (A s S0 H)].
Qed.
