(** The faces of the trap in which companions keep their lead, in the limit of many patches, and the trap itself. *)
(** In the book: ours-certified-faces. *)
From Coq Require Import Reals ZArith Lra Lia.
From Coquelicot Require Import Coquelicot.
From Book Require Import Bessel Overrates.
Open Scope R_scope.

(** * The definitions *)

(** The output in the limit is v psi with psi = (1 - theta) M^p + theta X_lambda and theta = 1 / (1 + b). *)

(** lambda is what a patch pays to itself over what it pays to a companion. *)
Definition A (C p : nat) (lam : R) : R := INR C * (INR C - 1 + lam) ^ (p - 1).
Definition X (C p : nat) (lam : R) (a b : nat) : R := INR C * (INR C - 1 + lam) ^ p + (INR C - 1 + lam ^ p) * vote a b.
Definition psi (C p : nat) (lam theta : R) (a b : nat) : R := (1 - theta) * all_vote C a b ^ p + theta * X C p lam a b.
Definition w (C p : nat) (lam theta v : R) (a b : nat) : R := weight (v * psi C p lam theta a b).
(** v is the best strength at (lambda, theta). *)
Definition Best z C p lam theta v := 0 < v /\ E z (fun a b => w C p lam theta v a b * psi C p lam theta a b) = 0.
(** What moves gamma, and what the sets that show something add to what moves rho. *)
Definition gamma_pull z C p lam theta v := E z (fun a b => w C p lam theta v a b * (A C p lam + vote a b)).
Definition vote_pull z C p lam theta v := E z (fun a b => w C p lam theta v a b * all_vote C a b ^ p).
Definition S2 z C p lam theta v := E z (fun a b => w C p lam theta v a b *
  (A C p lam * vote a b + (lam ^ (p - 1) + INR C - 1) * (count a b * all_vote C a b - vote a b))).

Section Faces.
Variables (z : R) (C p : nat).
Hypothesis z_positive : 0 < z.
Hypothesis C_two : (2 <= C)%nat.
Hypothesis p_odd : Nat.Odd p.
Hypothesis p_large : (3 <= p)%nat.
Let c := INR C - 1.
Lemma c_one : 1 <= c. Proof. unfold c. apply le_INR in C_two. simpl INR in C_two. lra. Qed.
Lemma p_next : p = S (p - 1). Proof. lia. Qed.
Lemma power_next x : x ^ p = x * x ^ (p - 1). Proof. rewrite p_next at 1. reflexivity. Qed.

(** X_lambda is a multiple of R + k wherever k (C - 1 + lambda^p) = C (C - 1 + lambda)^p. *)
Lemma X_is lam k a b : INR C * (c + lam) ^ p = k * (c + lam ^ p) -> X C p lam a b = (c + lam ^ p) * (vote a b + k).
Proof. intros H. unfold X. fold c. rewrite H. ring. Qed.
(** At the best strength the mean of w N is not negative, and positive strictly between the faces. *)
Lemma N_pull lam theta v K : 0 <= lam -> 0 <= theta <= 1 -> (2 * Z.of_nat C <= K)%Z -> INR C * (c + lam) ^ p = IZR K / 2 * (c + lam ^ p) ->
  Best z C p lam theta v ->
  (theta = 0 -> 0 <= vote_pull z C p lam theta v) /\
  (theta = 1 -> E z (fun a b => w C p lam theta v a b * above K a b) = 0) /\
  (0 < theta -> vote_pull z C p lam theta v < 0 /\ 0 <= E z (fun a b => w C p lam theta v a b * above K a b)).
Proof.
  intros L T KC Hk [V Z0]. destruct (best_strength z C p K z_positive ltac:(lia) KC p_odd p_large) as [Al [To _]].
  assert (Cl : 0 < c + lam ^ p) by (generalize c_one, (pow_le lam p L); lra).
  assert (Xe := fun a b => X_is lam (IZR K / 2) a b Hk).
  assert (One : theta = 1 -> E z (fun a b => w C p lam theta v a b * above K a b) = 0 /\ vote_pull z C p lam theta v < 0).
  { intros ->. assert (Q : forall a b, psi C p lam 1 a b = (c + lam ^ p) * above K a b) by (intros; unfold psi; rewrite Xe; unfold above; ring).
    assert (W : forall a b, w C p lam 1 v a b = weight (v * (c + lam ^ p) * above K a b)) by (intros; unfold w; rewrite Q; f_equal; ring).
    assert (H : E z (fun a b => weight (v * (c + lam ^ p) * above K a b) * above K a b) = 0).
    { apply Rmult_eq_reg_l with (c + lam ^ p); [|lra]. rewrite Rmult_0_r, <- Z0, <- E_times. apply E_ext. intros a b. rewrite W, Q. ring. }
    assert (S0 : 0 < v * (c + lam ^ p)) by now apply Rmult_lt_0_compat. split.
    - rewrite <- H. apply E_ext. intros a b. now rewrite W.
    - unfold vote_pull. rewrite (E_ext z _ (fun a b => weight (v * (c + lam ^ p) * above K a b) * all_vote C a b ^ p)) by (intros; now rewrite W).
      exact (Al _ S0 H). }
  refine (conj _ (conj (fun t => proj1 (One t)) _)).
  - intros ->. right. symmetry. eapply eq_trans; [|exact Z0]. apply E_ext. intros a b. unfold psi. ring.
  - intros T0. destruct (Req_dec theta 1) as [T1 | T1]; [destruct (One T1); split; [assumption | right; now symmetry]|].
    set (s := v * theta * (c + lam ^ p)). set (u := v * (1 - theta)).
    assert (Q : forall a b, v * psi C p lam theta a b = s * above K a b + u * all_vote C a b ^ p) by (intros; unfold psi, s, u; rewrite Xe; unfold above; ring).
    assert (S0 : 0 < s) by (unfold s; repeat apply Rmult_lt_0_compat; lra). assert (U0 : 0 < u) by (unfold u; apply Rmult_lt_0_compat; lra).
    assert (H : E z (fun a b => weight (s * above K a b + u * all_vote C a b ^ p) * (s * above K a b + u * all_vote C a b ^ p)) = 0).
    { rewrite <- (Rmult_0_r v), <- Z0, <- E_times. apply E_ext. intros a b. unfold w. rewrite <- Q. ring. }
    destruct (To s u S0 U0 H) as [G1 G2]. unfold vote_pull. split.
    + rewrite (E_ext z _ (fun a b => weight (s * above K a b + u * all_vote C a b ^ p) * all_vote C a b ^ p)) by (intros; unfold w; now rewrite Q). exact G2.
    + rewrite (E_ext z _ (fun a b => weight (s * above K a b + u * all_vote C a b ^ p) * above K a b)) by (intros; unfold w; now rewrite Q). now left.
Qed.

(** ** The same on the line *)
Definition h lam theta r := (1 - theta) * M C r ^ p + theta * (INR C * (c + lam) ^ p + (c + lam ^ p) * IZR r).
Lemma h_is lam theta a b : psi C p lam theta a b = h lam theta (diff a b).
Proof. unfold psi, h, X. rewrite all_vote_is. reflexivity. Qed.
Definition W lam theta v r := weight (v * h lam theta r).
Lemma W_is lam theta v a b : w C p lam theta v a b = W lam theta v (diff a b).
Proof. unfold w, W. now rewrite h_is. Qed.
Lemma tame_W lam theta v : tame (W lam theta v).
Proof. apply (tame_weight (fun r => v * h lam theta r)). Qed.
Lemma W_positive lam theta v : 0 < mean z (W lam theta v).
Proof. apply mean_positive; [exact z_positive | apply tame_W | intros; apply weight_range]. Qed.
(** w (R + x) from any shift of R. *)
Lemma shift_pull lam theta v f F x k : (forall a b, f a b = F (diff a b)) -> (forall r, F r = IZR r + k) ->
  E z (fun a b => w C p lam theta v a b * (x + vote a b)) = E z (fun a b => w C p lam theta v a b * f a b) + (x - k) * mean z (W lam theta v).
Proof.
  intros Hf HF. rewrite (E_mean z _ (fun r => W lam theta v r * (1 * F r + (x - k) * 1))) by (intros; rewrite W_is, HF; unfold vote; ring).
  rewrite (mean_weighted z z_positive (fun r => v * h lam theta r) F (fun _ => 1)).
  - rewrite (E_mean z (fun a b => w C p lam theta v a b * f a b) (fun r => W lam theta v r * F r)) by (intros; now rewrite W_is, Hf).
    rewrite (mean_ext z (fun r => weight (v * h lam theta r) * 1) (W lam theta v)) by (intros; unfold W; ring). unfold W at 2. ring.
  - apply (tame_ext (fun r => IZR r + k)); [intros; now rewrite HF | apply (tame_plus IZR); [apply tame_id | apply tame_const]].
  - apply tame_const.
Qed.
Lemma power_above a x n : 1 <= a -> 0 <= x -> a + x ^ S n <= (a + x) ^ S n.
Proof.
  intros Ha Hx. induction n as [|n IH]; [lra|]. change (x ^ S (S n)) with (x * x ^ S n). change ((a + x) ^ S (S n)) with ((a + x) * (a + x) ^ S n).
  assert (0 <= x ^ S n) by now apply pow_le. nra.
Qed.

(** ** The face of lambda *)
Lemma face_lambda lam theta v K : 1 < lam -> 0 <= theta <= 1 -> INR C * (c + lam) ^ p = IZR K / 2 * (c + lam ^ p) ->
  Best z C p lam theta v -> 0 < gamma_pull z C p lam theta v.
Proof.
  intros L T Hk B. assert (c1 := c_one). assert (C0 : 0 < INR C) by (unfold c in c1; lra).
  assert (Lp : lam < lam ^ p). { rewrite power_next. assert (1 < lam ^ (p - 1)); [|nra]. apply Rlt_pow_R1; [exact L | lia]. }
  assert (Ab : c + lam ^ p <= (c + lam) ^ p) by (rewrite p_next; apply power_above; lra).
  assert (KC : (2 * Z.of_nat C <= K)%Z). { apply le_IZR. rewrite mult_IZR, <- INR_IZR_INZ. nra. }
  assert (Ak : IZR K / 2 < A C p lam).
  { assert (Q : A C p lam * (c + lam) = IZR K / 2 * (c + lam ^ p)) by (rewrite <- Hk; unfold A; fold c; rewrite power_next; ring). 
    assert (0 < IZR K / 2) by (apply IZR_le in KC; rewrite mult_IZR, <- INR_IZR_INZ in KC; lra). nra. }
  assert (AC : INR C <= A C p lam). { unfold A. fold c. assert (1 <= (c + lam) ^ (p - 1)) by (apply pow_R1_Rle; lra). nra. }
  assert (Wp := W_positive lam theta v). destruct (N_pull lam theta v K ltac:(lra) T KC Hk B) as [N0 [_ N1]]. unfold gamma_pull.
  destruct (Req_dec theta 0) as [T0 | T0].
  - rewrite (shift_pull lam theta v (all_vote C) (M C) (A C p lam) (INR C) (all_vote_is C) (fun r => eq_refl)).
    assert (0 < E z (fun a b => w C p lam theta v a b * all_vote C a b)); [|nra]. specialize (N0 T0). subst theta.
    assert (Hv : forall r, v * h lam 0 r = v * M C r ^ p) by (intros; unfold h; ring).
    rewrite (E_mean z _ (fun r => weight (v * M C r ^ p) * M C r ^ 1)) by (intros; rewrite W_is, all_vote_is; unfold W; rewrite Hv; ring).
    apply (barrier z z_positive C v p 1); [lia | destruct B; lra | exact p_odd | exact odd_one | lia|].
    unfold vote_pull in N0. rewrite (E_mean z _ (fun r => weight (v * M C r ^ p) * M C r ^ p)) in N0; [exact N0|].
    intros a b. rewrite W_is, all_vote_is. unfold W. now rewrite Hv.
  - destruct (N1 ltac:(lra)) as [_ N2]. rewrite (shift_pull lam theta v (above K) (N K) (A C p lam) (IZR K / 2) (above_is K) (fun r => eq_refl)). nra.
Qed.

(** ** Strangers *)
Lemma s2_split lam v : S2 z C p lam 1 v = (A C p lam - (lam ^ (p - 1) + c)) * E z (fun a b => w C p lam 1 v a b * vote a b)
  + (lam ^ (p - 1) + c) * E z (fun a b => w C p lam 1 v a b * (count a b * all_vote C a b)).
Proof.
  set (x := lam ^ (p - 1) + c). unfold S2. replace (lam ^ (p - 1) + INR C - 1) with x by (unfold x, c; ring).
  assert (Tw := tame_W lam 1 v).
  rewrite (E_ext z _ (fun a b => (fun r => W lam 1 v r * ((A C p lam - x) * IZR r)) (diff a b) + count a b * (fun r => x * (W lam 1 v r * M C r)) (diff a b))) by (intros; rewrite W_is, all_vote_is; unfold vote; ring).
  rewrite (E_both z z_positive (fun r => W lam 1 v r * ((A C p lam - x) * IZR r)) (fun r => x * (W lam 1 v r * M C r))).
  - f_equal.
    + rewrite (E_mean z _ (fun r => W lam 1 v r * IZR r)) by (intros; now rewrite W_is). rewrite <- mean_times. apply mean_ext. intros r. ring.
    + rewrite (E_fill z _ (fun r => W lam 1 v r * M C r)) by (intros; rewrite W_is, all_vote_is; ring). rewrite <- mean_times. apply mean_ext. intros r. ring.
  - now apply tame_fill.
  - apply tame_times; [exact Tw | apply (tame_times (fun _ => A C p lam - x)); [apply tame_const | apply tame_id]].
  - apply (tame_times (fun _ => x)); [apply tame_const | apply tame_times; [exact Tw | apply tame_M]].
Qed.
Lemma strangers lam theta v K : 0 <= lam -> 0 < theta <= 1 -> (2 * Z.of_nat C <= K)%Z -> INR C * (c + lam) ^ p = IZR K / 2 * (c + lam ^ p) ->
  Best z C p lam theta v -> vote_pull z C p lam theta v < 0 /\ (theta = 1 -> lam ^ (p - 1) + c < A C p lam -> S2 z C p lam 1 v < 0).
Proof.
  intros L T KC Hk B. destruct (N_pull lam theta v K L ltac:(lra) KC Hk B) as [_ [N1 N2]]. split; [apply N2; lra|].
  intros -> Ax. destruct B as [V Z0]. assert (c1 := c_one). assert (Lp := pow_le lam (p - 1) L). assert (Lp' := pow_le lam p L).
  assert (Xe := fun a b => X_is lam (IZR K / 2) a b Hk).
  assert (Q : forall a b, w C p lam 1 v a b = weight (v * (c + lam ^ p) * above K a b)) by (intros; unfold w, psi; rewrite Xe; f_equal; unfold above; ring).
  destruct (best_strength z C p K z_positive ltac:(lia) KC p_odd p_large) as [_ [_ [Co _]]].
  destruct (Co (v * (c + lam ^ p))) as [_ [C2 C3]].
  - apply Rmult_lt_0_compat; lra.
  - rewrite <- (N1 eq_refl). apply E_ext. intros a b. now rewrite Q.
  - rewrite s2_split. rewrite (E_ext z (fun a b => w C p lam 1 v a b * vote a b) (fun a b => weight (v * (c + lam ^ p) * above K a b) * vote a b)) by (intros; now rewrite Q).
    rewrite (E_ext z (fun a b => w C p lam 1 v a b * (count a b * all_vote C a b)) (fun a b => weight (v * (c + lam ^ p) * above K a b) * (count a b * all_vote C a b))) by (intros; now rewrite Q).
    set (x := E z (fun a b => weight (v * (c + lam ^ p) * above K a b) * vote a b)) in *.
    set (y := E z (fun a b => weight (v * (c + lam ^ p) * above K a b) * (count a b * all_vote C a b))) in *. nra.
Qed.
Lemma C_is : INR C = c + 1. Proof. unfold c. ring. Qed.
Lemma nat_c : c = INR (C - 1). Proof. unfold c. rewrite minus_INR by lia. reflexivity. Qed.
Definition K0 := (2 * (Z.of_nat C * Z.of_nat ((C - 1) ^ (p - 1))))%Z.
Lemma K0_is : IZR K0 / 2 = INR C * c ^ (p - 1).
Proof. unfold K0. rewrite !mult_IZR, <- !INR_IZR_INZ, pow_INR, <- nat_c. field. Qed.
Lemma power_one : 1 <= c ^ (p - 1). Proof. apply pow_R1_Rle, c_one. Qed.
Lemma K0_large : (2 * Z.of_nat C <= K0)%Z.
Proof. apply le_IZR. rewrite mult_IZR, <- INR_IZR_INZ. generalize K0_is, power_one, c_one, C_is. nra. Qed.
Definition K1 := (2 * Z.of_nat (C ^ p))%Z.
Lemma K1_is : IZR K1 / 2 = INR C ^ p.
Proof. unfold K1. rewrite mult_IZR, <- INR_IZR_INZ, pow_INR. field. Qed.
Lemma far_power : INR C < INR C ^ p.
Proof. rewrite power_next. assert (1 < INR C ^ (p - 1)); [apply Rlt_pow_R1; [generalize C_is, c_one; lra | lia]|]. generalize C_is, c_one. nra. Qed.
Lemma K1_large : (2 * Z.of_nat C <= K1)%Z.
Proof. apply le_IZR. rewrite mult_IZR, <- INR_IZR_INZ. generalize K1_is, far_power. lra. Qed.
Lemma zero_power n : (1 <= n)%nat -> 0 ^ n = 0. Proof. intros H. apply pow_i. lia. Qed.
Lemma strangers_zero theta v : 0 < theta <= 1 -> Best z C p 0 theta v -> vote_pull z C p 0 theta v < 0 /\ (theta = 1 -> S2 z C p 0 theta v < 0).
Proof.
  intros T B. assert (Z1 := zero_power p ltac:(lia)). assert (Z2 := zero_power (p - 1) ltac:(lia)).
  destruct (strangers 0 theta v K0 ltac:(lra) T K0_large) as [G1 G2]; [|exact B|].
  - rewrite K0_is, Z1, !Rplus_0_r, power_next. ring.
  - split; [exact G1|]. intros ->. apply G2; [reflexivity|]. rewrite Z2. unfold A. fold c. rewrite Rplus_0_r. generalize power_one, C_is, c_one. nra.
Qed.
Lemma strangers_one theta v : 0 < theta <= 1 -> Best z C p 1 theta v -> vote_pull z C p 1 theta v < 0 /\ (theta = 1 -> S2 z C p 1 theta v < 0).
Proof.
  intros T B. destruct (strangers 1 theta v K1 ltac:(lra) T K1_large) as [G1 G2]; [|exact B|].
  - rewrite K1_is, pow1, <- C_is. ring.
  - split; [exact G1|]. intros ->. apply G2; [reflexivity|]. rewrite pow1. unfold A. fold c. replace (1 + c) with (INR C) by (rewrite C_is; ring).
    rewrite <- C_is, <- power_next. exact far_power.
Qed.
End Faces.

(** * The best strength exists, at every lambda and b *)

Lemma mean_vote z : 0 < z -> mean z IZR = 0.
Proof.
  intros Z. destruct (ok_law z Z IZR tame_id) as [A B]. unfold mean, over. rewrite (Series_incr_1 _ A).
  rewrite (Series_ext (fun n => chance z (- Z.of_nat (S n))%Z * IZR (- Z.of_nat (S n))) (fun n => -1 * (chance z (Z.of_nat (S n)) * IZR (Z.of_nat (S n))))).
  - rewrite Series_scal_l. change (Z.of_nat 0) with 0%Z. ring.
  - intros n. rewrite chance_even, opp_IZR. ring.
Qed.
Theorem best_strength_exists z C p lam theta : 0 < z -> (2 <= C)%nat -> Nat.Odd p -> 0 <= lam -> 0 <= theta <= 1 -> exists v, Best z C p lam theta v.
Proof.
  intros Z C2 Op L T. set (k := INR C * (INR C - 1 + lam) ^ p). set (l := INR C - 1 + lam ^ p).
  assert (c1 : 1 <= INR C - 1) by exact (c_one C C2). assert (l1 : 1 <= l) by (unfold l; generalize (pow_le lam p L); lra).
  assert (k0 : 0 < k). { unfold k. apply Rmult_lt_0_compat; [lra | apply pow_lt; lra]. }
  assert (Hh : forall r, h C p lam theta r = (1 - theta) * M C r ^ p + theta * (k * 1 + l * IZR r)) by (intros; unfold h, k, l; ring).
  assert (Tm : tame (fun r => M C r ^ p)) by apply tame_pow, tame_M.
  assert (Tx : tame (fun r => k * 1 + l * IZR r)) by (apply (tame_plus (fun _ => k * 1)); [apply tame_const | apply (tame_times (fun _ => l)); [apply tame_const | apply tame_id]]).
  assert (Th : tame (h C p lam theta)).
  { apply (tame_ext (fun r => (1 - theta) * M C r ^ p + theta * (k * 1 + l * IZR r))); [intros; now rewrite Hh|].
    apply (tame_plus (fun r => (1 - theta) * M C r ^ p)); [apply (tame_times (fun _ => 1 - theta)) | apply (tame_times (fun _ => theta))]; (apply tame_const || assumption). }
  destruct (archimed (k / l + INR C)) as [Ar _]. set (r := (- up (k / l + INR C))%Z).
  assert (Rl : IZR r < - (k / l) - INR C) by (unfold r; rewrite opp_IZR; lra).
  assert (kl : 0 < k / l) by (apply Rdiv_lt_0_compat; lra).
  destruct (best_exists z Z (h C p lam theta) Th r) as [v [V H]].
  - rewrite (mean_ext z _ _ Hh), mean_plus, !mean_times, mean_plus, !mean_times, mean_vote; try exact Z; try assumption; try apply tame_const.
    + assert (X1 : 0 < mean z (fun r => M C r ^ p)). { rewrite (mean_ext z _ (fun r => N (2 * Z.of_nat C) r ^ p)) by (intros; now rewrite M_is). apply powers_positive; [exact Z | lia | exact Op]. }
      assert (X2 : 0 < mean z (fun _ => 1)) by (apply mean_positive; [exact Z | apply tame_const | intros; lra]).
      assert (X3 : 0 < k * mean z (fun _ => 1)) by now apply Rmult_lt_0_compat. destruct (Req_dec theta 0) as [-> | T0]; nra.
    + apply (tame_times (fun _ => l)); [apply tame_const | apply tame_id].
    + apply (tame_times (fun _ => 1 - theta)); [apply tame_const | exact Tm].
    + apply (tame_times (fun _ => theta)); [apply tame_const | exact Tx].
  - rewrite Hh. assert (Mn : M C r ^ p < 0). { unfold M. replace (IZR r + INR C) with (- - (IZR r + INR C)) by ring. rewrite odd_opp by exact Op. assert (0 < (- (IZR r + INR C)) ^ p) by (apply pow_lt; lra). lra. }
    assert (Xn : k * 1 + l * IZR r < 0). { assert (l * IZR r < l * (- (k / l))) by (apply Rmult_lt_compat_l; lra). replace (l * - (k / l)) with (- k) in H by (field; lra). lra. }
    destruct (Req_dec theta 0) as [-> | T0]; nra.
  - exists v. split; [exact V|]. unfold pull in H. rewrite <- H. apply (E_mean z _ (fun r => weight (v * h C p lam theta r) * h C p lam theta r)).
    intros a b. rewrite W_is, h_is. reflexivity.
Qed.
Example best_strength_exists_instance : exists v, Best 1 2 3 (/ 2) (/ 3) v.
Proof. apply best_strength_exists; try lra; [lia | now exists 1%nat]. Qed.

(** * The statements *)

(** The face of lambda, near: where k_lambda, at which X_lambda is a multiple of R + k_lambda, is K / 2; at every b. *)
Theorem lambda_face z C p lam theta v K : 0 < z -> (2 <= C)%nat -> Nat.Odd p -> (3 <= p)%nat -> 1 < lam -> 0 <= theta <= 1 ->
  INR C * (INR C - 1 + lam) ^ p = IZR K / 2 * (INR C - 1 + lam ^ p) -> Best z C p lam theta v -> 0 < gamma_pull z C p lam theta v.
Proof. intros Z C2 Op P3 L T Hk B. exact (face_lambda z C p Z C2 Op P3 lam theta v K L T Hk B). Qed.

(** The face of lambda, far: at every b and every v, however far v is from the best strength. *)
Definition low_chance z C p := E z (fun a b => if Rlt_dec (vote a b) (- (2 ^ p * INR C)) then 1 else 0).
Definition Far z C p lam := INR C - 1 <= lam /\ 1 <= lam /\ E z (fun a b => Rabs (vote a b)) + 1 <= A C p lam * (low_chance z C p / 2).
Theorem lambda_face_far z C p lam theta v : 0 < z -> (2 <= C)%nat -> Nat.Odd p -> Far z C p lam -> 0 <= theta <= 1 -> 0 < v ->
  1 <= gamma_pull z C p lam theta v.
Proof.
  intros Z C2 Op [Lc [L1 Lf]] T V. assert (c1 : 1 <= INR C - 1) by exact (c_one C C2).
  set (low := fun r => if Rlt_dec (IZR r) (- (2 ^ p * INR C)) then 1 else 0).
  assert (Tl : tame low). { apply tame_bounded with 1. intros r. unfold low. destruct (Rlt_dec _ _); rewrite Rabs_pos_eq; lra. }
  assert (Ta : tame (fun r => Rabs (IZR r))) by apply tame_abs, tame_id.
  assert (Ap : 0 <= A C p lam) by (unfold A; apply Rmult_le_pos; [lra | apply pow_le; lra]).
  unfold low_chance in Lf. rewrite (E_mean z (fun a b => if Rlt_dec (vote a b) (- (2 ^ p * INR C)) then 1 else 0) low), (E_mean z (fun a b => Rabs (vote a b)) (fun r => Rabs (IZR r))) in Lf by reflexivity.
  unfold gamma_pull. rewrite (E_mean z _ (fun r => W C p lam theta v r * (A C p lam + IZR r))) by (intros; now rewrite W_is).
  apply Rle_trans with (mean z (fun r => A C p lam / 2 * low r + -1 * Rabs (IZR r))).
  - rewrite mean_plus, !mean_times; [lra | exact Z | |].
    + apply (tame_times (fun _ => A C p lam / 2)); [apply tame_const | exact Tl].
    + apply (tame_times (fun _ => -1)); [apply tame_const | exact Ta].
  - apply mean_le; [exact Z | | |].
    + apply tame_plus; [apply (tame_times (fun _ => A C p lam / 2)); [apply tame_const | exact Tl] | apply (tame_times (fun _ => -1)); [apply tame_const | exact Ta]].
    + apply tame_times; [apply tame_W | apply (tame_plus (fun _ => A C p lam)); [apply tame_const | apply tame_id]].
    + intros r. assert (Wr := weight_range (v * h C p lam theta r)). fold (W C p lam theta v r) in Wr.
      assert (Wa : - Rabs (IZR r) <= W C p lam theta v r * IZR r) by (generalize (Rabs_pos (IZR r)), (Rle_abs (- IZR r)); rewrite Rabs_Ropp; intros; nra).
      unfold low. destruct (Rlt_dec (IZR r) (- (2 ^ p * INR C))) as [Lo | _]; [|nra].
      assert (Half : / 2 <= W C p lam theta v r); [|nra]. unfold W. replace (/ 2) with (weight 0) by (unfold weight; rewrite exp_0; replace (1 + 1) with 2 by ring; reflexivity).
      apply weight_falls. assert (h C p lam theta r <= 0); [|nra].
      assert (P2 : 1 <= 2 ^ p) by (apply pow_R1_Rle; lra).
      assert (Mn : M C r ^ p <= 0). { unfold M. replace (IZR r + INR C) with (- - (IZR r + INR C)) by ring. rewrite odd_opp by exact Op. assert (0 <= (- (IZR r + INR C)) ^ p) by (apply pow_le; nra). lra. }
      assert (Pl : 0 <= lam ^ p) by (apply pow_le; lra). assert (Pu : (INR C - 1 + lam) ^ p <= 2 ^ p * lam ^ p) by (rewrite <- Rpow_mult_distr; apply pow_incr; lra).
      assert (Xn : INR C * (INR C - 1 + lam) ^ p + (INR C - 1 + lam ^ p) * IZR r <= 0).
      { assert ((INR C - 1 + lam ^ p) * IZR r <= (INR C - 1 + lam ^ p) * - (2 ^ p * INR C)) by (apply Rmult_le_compat_l; lra).
        assert (INR C * (INR C - 1 + lam) ^ p <= INR C * (2 ^ p * lam ^ p)) by (apply Rmult_le_compat_l; lra).
        assert (0 <= (INR C - 1) * (2 ^ p * INR C)) by (apply Rmult_le_pos; [lra | apply Rmult_le_pos; lra]). lra. }
      unfold h. nra.
Qed.
Lemma far_exists z C p : 0 < z -> (2 <= C)%nat -> (3 <= p)%nat -> exists lam, Far z C p lam.
Proof.
  intros Z C2 P3. assert (c1 : 1 <= INR C - 1) by exact (c_one C C2). set (low := fun r => if Rlt_dec (IZR r) (- (2 ^ p * INR C)) then 1 else 0).
  assert (Tl : tame low). { apply tame_bounded with 1. intros r. unfold low. destruct (Rlt_dec _ _); rewrite Rabs_pos_eq; lra. }
  assert (L0 : 0 < low_chance z C p).
  { unfold low_chance. rewrite (E_mean z _ low) by reflexivity. destruct (archimed (2 ^ p * INR C)) as [Ar _]. set (r := (- up (2 ^ p * INR C))%Z).
    apply Rlt_le_trans with (chance z r * low r).
    - apply Rmult_lt_0_compat; [now apply chance_positive|]. unfold low. destruct (Rlt_dec _ _) as [_ | N]; [lra|]. exfalso. apply N. unfold r. rewrite opp_IZR. lra.
    - apply (over_at (fun r => chance z r * low r)); [now apply ok_law|]. intros t. apply Rmult_le_pos; [left; now apply chance_positive|]. unfold low. destruct (Rlt_dec _ _); lra. }
  assert (E0 : 0 <= E z (fun a b => Rabs (vote a b))).
  { rewrite (E_mean z _ (fun r => Rabs (IZR r))) by reflexivity. apply over_nonneg; [apply ok_law; [exact Z | apply tame_abs, tame_id]|]. intros r. apply Rmult_le_pos; [left; now apply chance_positive | apply Rabs_pos]. }
  set (e := E z (fun a b => Rabs (vote a b))) in *. set (lam := INR C + 2 * (e + 1) / low_chance z C p). exists lam.
  assert (Q : 0 < 2 * (e + 1) / low_chance z C p) by (apply Rdiv_lt_0_compat; lra). unfold Far. fold e. repeat split; try (unfold lam; lra).
  assert (Al : lam <= A C p lam).
  { unfold A. assert (Ll : 1 < lam) by (unfold lam; lra). replace (p - 1)%nat with (S (p - 2)) by lia. change ((INR C - 1 + lam) ^ S (p - 2)) with ((INR C - 1 + lam) * (INR C - 1 + lam) ^ (p - 2)).
    assert (1 <= (INR C - 1 + lam) ^ (p - 2)) by (apply pow_R1_Rle; lra). assert (lam <= (INR C - 1 + lam) * (INR C - 1 + lam) ^ (p - 2)) by nra. nra. }
  apply Rle_trans with (lam * (low_chance z C p / 2)); [|apply Rmult_le_compat_r; lra]. unfold lam. rewrite Rmult_plus_distr_r.
  replace (2 * (e + 1) / low_chance z C p * (low_chance z C p / 2)) with (e + 1) by (field; lra). nra.
Qed.
Example lambda_face_far_instance : exists lam, Far 1 2 3 lam /\ 1 <= gamma_pull 1 2 3 lam (/ 2) 7.
Proof.
  destruct (far_exists 1 2 3 ltac:(lra) ltac:(lia) ltac:(lia)) as [lam F]. exists lam. split; [exact F|].
  apply lambda_face_far; try assumption; try lra; [lia | now exists 1%nat].
Qed.
(** The near one: at C = 2, p = 3 and k = 5 / 2, which a root of 2 (1 + lambda)^3 = 5 / 2 (1 + lambda^3) has. *)
Example lambda_face_instance : exists lam v, 1 < lam /\ Best 1 2 3 lam (/ 2) v /\ 0 < gamma_pull 1 2 3 lam (/ 2) v.
Proof.
  assert (R0 : exists lam, 1 < lam /\ INR 2 * (INR 2 - 1 + lam) ^ 3 = IZR 5 / 2 * (INR 2 - 1 + lam ^ 3)).
  { destruct (IVT (fun x => IZR 5 / 2 * (INR 2 - 1 + x ^ 3) - INR 2 * (INR 2 - 1 + x) ^ 3) 1 100) as [x [X1 X2]].
    - apply derivable_continuous. intros t. apply ex_derive_Reals_0. auto_derive. exact Logic.I.
    - lra.
    - simpl INR. lra.
    - simpl INR. lra.
    - exists x. split; [|lra]. destruct (Req_dec x 1) as [E1 | E1]; [|lra]. exfalso. rewrite E1 in X2. simpl INR in X2. lra. }
  destruct R0 as [lam [L Hk]]. destruct (best_strength_exists 1 2 3 lam (/ 2) ltac:(lra) ltac:(lia) ltac:(now exists 1%nat) ltac:(lra) ltac:(lra)) as [v B].
  exists lam, v. split; [exact L|]. split; [exact B|]. apply (lambda_face 1 2 3 lam (/ 2) v 5); try assumption; try lra; try lia. now exists 1%nat.
Qed.

(** The face of b, where the vote decides: f (u) >= 0 is u <= u*. *)
Theorem b_face z C p j u : 0 < z -> (1 <= C)%nat -> Nat.Odd p -> Nat.Odd j -> (j < p)%nat -> 0 <= u ->
  0 <= E z (fun a b => weight (u * all_vote C a b ^ p) * all_vote C a b ^ p) -> 0 < E z (fun a b => weight (u * all_vote C a b ^ p) * all_vote C a b ^ j).
Proof.
  intros Z C1 Op Oj L U. rewrite (E_mean z _ (fun r => weight (u * M C r ^ p) * M C r ^ p)), (E_mean z (fun a b => weight (u * all_vote C a b ^ p) * all_vote C a b ^ j) (fun r => weight (u * M C r ^ p) * M C r ^ j)) by (intros; now rewrite !all_vote_is).
  now apply barrier.
Qed.
Example b_face_instance : 0 < E 1 (fun a b => weight (0 * all_vote 2 a b ^ 3) * all_vote 2 a b ^ 1).
Proof.
  apply (b_face 1 2 3 1 0); try lra; try lia; [now exists 1%nat | now exists 0%nat|].
  rewrite (E_mean 1 _ (fun r => / 2 * M 2 r ^ 3)).
  - rewrite mean_times. generalize (powers_positive 1 ltac:(lra) 4 3 ltac:(lia) ltac:(now exists 1%nat)). rewrite (mean_ext 1 (fun r => N 4 r ^ 3) (fun r => M 2 r ^ 3)) by (intros; now rewrite M_is). lra.
  - intros a b. rewrite Rmult_0_l, all_vote_is. unfold weight. rewrite exp_0. replace (1 + 1) with 2 by ring. reflexivity.
Qed.

(** Strangers, where a patch pays nothing to itself, and where it pays to itself what it pays to a companion. *)
Theorem strangers_fall z C p theta v : 0 < z -> (2 <= C)%nat -> Nat.Odd p -> (3 <= p)%nat -> 0 < theta <= 1 -> forall lam, lam = 0 \/ lam = 1 ->
  Best z C p lam theta v -> vote_pull z C p lam theta v < 0 /\ (theta = 1 -> S2 z C p lam theta v < 0).
Proof.
  intros Z C2 Op P3 T lam [-> | ->] B; [exact (strangers_zero z C p Z C2 Op P3 theta v T B) | exact (strangers_one z C p Z C2 Op P3 theta v T B)].
Qed.
Example strangers_fall_instance : exists v, Best 1 2 3 0 1 v /\ vote_pull 1 2 3 0 1 v < 0 /\ S2 1 2 3 0 1 v < 0.
Proof.
  destruct (best_strength_exists 1 2 3 0 1 ltac:(lra) ltac:(lia) ltac:(now exists 1%nat) ltac:(lra) ltac:(lra)) as [v B].
  exists v. split; [exact B|]. destruct (strangers_fall 1 2 3 1 v ltac:(lra) ltac:(lia) ltac:(now exists 1%nat) ltac:(lia) ltac:(lra) 0 ltac:(now left) B) as [G1 G2]. split; [exact G1 | now apply G2].
Qed.

(** How far gamma may overshoot: B_c from the best strength s where nothing else is heard and lambda = 0. *)
Definition k0 C p := INR C * (INR C - 1) ^ (p - 1).
Definition alone_weight C p s (a b : nat) := weight (s * (vote a b + k0 C p)).
Definition B_c z C p s := (- k0 C p * E z (fun a b => alone_weight C p s a b * all_vote C a b) - E z (fun a b => alone_weight C p s a b * vote a b)
  - (INR C - 1) * E z (fun a b => alone_weight C p s a b * (count a b * all_vote C a b))) / (k0 C p * E z (alone_weight C p s)).
Theorem overshoot z C p s : 0 < z -> (2 <= C)%nat -> Nat.Odd p -> (3 <= p)%nat -> 0 < s ->
  E z (fun a b => alone_weight C p s a b * (vote a b + k0 C p)) = 0 -> k0 C p - INR C + 1 < B_c z C p s.
Proof.
  intros Z C2 Op P3 S0 Z0. assert (c1 : 1 <= INR C - 1) by exact (c_one C C2). set (K := K0 C p). assert (Kk : IZR K / 2 = k0 C p) by first [exact (K0_is C p C2) | exact (K0_is C p C2 P3)].
  assert (KC : (2 * Z.of_nat C <= K0 C p)%Z) by (first [exact (K0_large C p C2) | exact (K0_large C p C2 P3) | exact (K0_large C p C2 Op P3)]). fold K in KC. assert (Kp : 1 <= k0 C p). { unfold k0. assert (1 <= (INR C - 1) ^ (p - 1)) by (apply pow_R1_Rle; lra). nra. }
  assert (Q : forall a b, alone_weight C p s a b = weight (s * above K a b)) by (intros; unfold alone_weight, above; now rewrite Kk).
  assert (H : E z (fun a b => weight (s * above K a b) * above K a b) = 0) by (rewrite <- Z0; apply E_ext; intros a b; unfold alone_weight, above; now rewrite Kk).
  assert (Hm : mean z (fun r => weight (s * N K r) * N K r) = 0) by (rewrite <- H; symmetry; now apply E_mean).
  destruct (best_strength z C p K Z ltac:(lia) KC Op P3) as [_ [_ [Co _]]]. destruct (Co s S0 H) as [_ [_ C3]].
  assert (Wp := weight_mean z Z K s). set (x := mean z (fun r => weight (s * N K r))) in *.
  assert (E1 : E z (fun a b => alone_weight C p s a b * all_vote C a b) = (INR C - k0 C p) * x).
  { rewrite (E_mean z _ (fun r => weight (s * N K r) * (IZR r + INR C))) by (intros; rewrite Q, all_vote_is; reflexivity). rewrite shifted by assumption. now rewrite Kk. }
  assert (E2 : E z (fun a b => alone_weight C p s a b * vote a b) = - k0 C p * x).
  { rewrite (E_mean z _ (fun r => weight (s * N K r) * (IZR r + 0))) by (intros; rewrite Q; unfold above, vote, N; ring). rewrite shifted by assumption. rewrite Kk. unfold x. ring. }
  assert (E3 : E z (alone_weight C p s) = x) by (apply E_mean; intros; now rewrite Q).
  unfold B_c. rewrite E1, E2, E3. rewrite (E_ext z _ (fun a b => weight (s * above K a b) * (count a b * all_vote C a b))) by (intros; now rewrite Q).
  set (y := E z (fun a b => weight (s * above K a b) * (count a b * all_vote C a b))) in *.
  assert (Kx : 0 < k0 C p * x) by (apply Rmult_lt_0_compat; lra). apply Rmult_lt_reg_r with (k0 C p * x); [exact Kx|].
  match goal with |- _ < ?u / _ * _ => replace (u / (k0 C p * x) * (k0 C p * x)) with u by (field; lra) end. nra.
Qed.
Example overshoot_instance : exists s, 0 < s /\ k0 2 3 - INR 2 + 1 < B_c 1 2 3 s.
Proof.
  destruct (best_strength_exists 1 2 3 0 1 ltac:(lra) ltac:(lia) ltac:(now exists 1%nat) ltac:(lra) ltac:(lra)) as [v [V H]].
  assert (Q : forall a b, psi 2 3 0 1 a b = vote a b + k0 2 3) by (intros; unfold psi, X, k0; simpl INR; simpl pow; ring).
  exists v. split; [exact V|]. apply overshoot; try lra; try lia; [now exists 1%nat|]. rewrite <- H. apply E_ext. intros a b. unfold alone_weight, w. now rewrite Q.
Qed.

(** * The trap *)

(** Any run of gamma and rho, of which only its steps at the two faces and its step of rho are known: b = D e^(-p (gamma - rho)) and
    lambda = e^(beta - gamma) do not rise at their faces, and no step leaps over one. *)
Section Trap.
Variables (D p beta b1 lam0 lam1 eta1 : R) (gamma rho : nat -> R).
Definition b t := D * exp (- p * (gamma t - rho t)).
Definition lambda t := exp (beta - gamma t).
Definition within t := b t <= 2 * b1 /\ lambda t <= lam1.
Definition Kept := forall t, within t /\ (ln D - ln (2 * b1)) / p <= gamma t - rho t /\ beta - ln lam1 <= gamma t /\ rho t < Rmin (gamma t) beta.

Theorem lead_kept : 0 < p -> 0 < b1 -> 2 * b1 < D -> 0 < lam0 < lam1 -> 0 < eta1 -> 1 < ln eta1 + (ln D - ln (2 * b1)) / p ->
  within 0 -> rho 0%nat < beta ->
  (forall t, within t -> b1 <= b t -> b (S t) <= b t) ->
  (forall t, within t -> lam0 <= lambda t -> lambda (S t) <= lambda t) ->
  (forall t, within t -> b (S t) <= 2 * b t /\ lambda (S t) <= lam1 / lam0 * lambda t) ->
  (forall t, within t -> rho (S t) <= rho t + 1 /\ (lambda t <= eta1 -> rho (S t) <= rho t)) ->
  Kept.
Proof.
  intros P B D1 L Et Far W0 R0 Hb Hl Hs Hr.
  assert (Lead : forall t, within t -> (ln D - ln (2 * b1)) / p <= gamma t - rho t).
  { intros t [Wb _]. assert (Bp : 0 < b t) by (apply Rmult_lt_0_compat; [lra | apply exp_pos]).
    assert (Lb : ln (b t) <= ln (2 * b1)) by (destruct Wb as [Wb | ->]; [left; now apply ln_increasing | right; reflexivity]).
    unfold b in Lb. rewrite ln_mult in Lb by (try apply exp_pos; lra). rewrite ln_exp in Lb.
    apply Rmult_le_reg_l with p; [exact P|]. replace (p * ((ln D - ln (2 * b1)) / p)) with (ln D - ln (2 * b1)) by (field; lra). lra. }
  assert (Le : forall t, within t -> beta - ln lam1 <= gamma t).
  { intros t [_ Wl]. assert (X0 : ln (lambda t) <= ln lam1) by (destruct Wl as [Wl | Wl]; [left; apply ln_increasing; [apply exp_pos | exact Wl] | right; now rewrite Wl]).
    unfold lambda in X0. rewrite ln_exp in X0. lra. }
  assert (Pos : 0 < (ln D - ln (2 * b1)) / p) by (apply Rdiv_lt_0_compat; [|exact P]; assert (ln (2 * b1) < ln D) by (apply ln_increasing; lra); lra).
  assert (All : forall t, within t /\ rho t < beta).
  { induction t as [|t [W R1]]; [now split|]. assert (W' : within (S t)).
    { destruct (Hs t W) as [Sb Sl]. split.
      - destruct (Rle_lt_dec b1 (b t)) as [X0 | X0]; [generalize (Hb t W X0); destruct W; lra | lra].
      - destruct (Rle_lt_dec lam0 (lambda t)) as [X0 | X0]; [generalize (Hl t W X0); destruct W; lra|].
        apply Rle_trans with (1 := Sl). assert (0 < lam1 / lam0) by (apply Rdiv_lt_0_compat; lra). replace lam1 with (lam1 / lam0 * lam0) at 2 by (field; lra). apply Rmult_le_compat_l; lra. }
    split; [exact W'|]. destruct (Hr t W) as [R2 R3]. destruct (Rle_lt_dec (lambda t) eta1) as [X0 | X0]; [generalize (R3 X0); lra|].
    assert (Lx : ln eta1 < ln (lambda t)) by now apply ln_increasing. unfold lambda in Lx. rewrite ln_exp in Lx. generalize (Lead t W). lra. }
  intros t. destruct (All t) as [W R1]. split; [exact W|]. split; [now apply Lead|]. split; [now apply Le|]. apply Rmin_glb_lt; [generalize (Lead t W); lra | exact R1].
Qed.
End Trap.
(** A run that moves: gamma falls towards the diagonal, and rho falls. *)
Example lead_kept_instance : Kept (exp 6) 3 1 1 4 (fun t => 2 + / 2 ^ t) (fun t => - INR t).
Proof.
  assert (Hp : forall t, 0 < / 2 ^ t <= 1). { intros t. assert (1 <= 2 ^ t) by (apply pow_R1_Rle; lra). split; [apply Rinv_0_lt_compat; lra|]. rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
  assert (Hs : forall t, / 2 ^ S t = / 2 * / 2 ^ t). { intros t. assert (0 < 2 ^ t) by (apply pow_lt; lra). simpl pow. field. lra. }
  assert (E0 := exp_ineq1_le). assert (Bp : forall t, b (exp 6) 3 (fun t => 2 + / 2 ^ t) (fun t => - INR t) (S t) <= b (exp 6) 3 (fun t => 2 + / 2 ^ t) (fun t => - INR t) t).
  { intros t. unfold b. apply Rmult_le_compat_l; [left; apply exp_pos|]. apply exp_le. rewrite S_INR, Hs. generalize (Hp t). lra. }
  assert (Bq : forall t, 0 < b (exp 6) 3 (fun t => 2 + / 2 ^ t) (fun t => - INR t) t) by (intros; apply Rmult_lt_0_compat; apply exp_pos).
  assert (Lo : forall t, 0 < lambda 1 (fun t => 2 + / 2 ^ t) t < 1). { intros t. split; [apply exp_pos|]. apply Rlt_le_trans with (exp 0); [|rewrite exp_0; lra]. apply exp_increasing. generalize (Hp t). lra. }
  assert (L2 : ln 2 < 1). { rewrite <- (ln_exp 1). apply ln_increasing; [lra|]. generalize (exp_ineq1 1 ltac:(lra)). lra. }
  apply (lead_kept _ _ _ _ 2 _ 1); try lra; try (rewrite Rmult_1_r).
  - generalize (E0 6). lra.
  - rewrite ln_1, ln_exp. lra.
  - unfold within, b. split; [|left; generalize (Lo 0%nat); lra]. rewrite <- exp_plus. apply Rle_trans with (exp 0); [apply exp_le; simpl; lra | rewrite exp_0; lra].
  - simpl. lra.
  - intros t _ _. apply Bp.
  - intros t _ H. generalize (Lo t). lra.
  - intros t _. split; [generalize (Bp t), (Bq t); lra|]. unfold lambda. replace (4 / 2) with 2 by field. rewrite Hs.
    replace (1 - (2 + / 2 * / 2 ^ t)) with ((1 - (2 + / 2 ^ t)) + / 2 * / 2 ^ t) by lra. rewrite exp_plus.
    assert (exp (/ 2 * / 2 ^ t) <= 2). { apply Rle_trans with (exp (/ 2)); [apply exp_le; generalize (Hp t); lra|].
      assert (X1 : exp (/ 2) * exp (- / 2) = 1) by (rewrite <- exp_plus, <- exp_0; f_equal; lra). generalize (E0 (- / 2)), (exp_pos (/ 2)). nra. }
    generalize (exp_pos (1 - (2 + / 2 ^ t))). nra.
  - intros t _. rewrite S_INR. split; intros; lra.
Qed.
