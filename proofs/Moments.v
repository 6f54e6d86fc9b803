(** The first move at every number of sets. The claim is [Companions_win] of Vote.v, for n = C, 2 C, ... random
    patches: many of them are decided by their moments, which are polynomials in n. *)
From Coq Require Import Reals ZArith List Lra Lia.
From Coquelicot Require Import Coquelicot.
From Book Require Import Ball Vote.
Import ListNotations.
Open Scope R_scope.

(** * w between polynomials: z^2 - z^4 / 3 <= z tanh z <= z^2 *)

Definition th z := 1 - 2 * / (1 + exp (2 * z)).
Lemma th_derive z : is_derive th z (1 - th z ^ 2).
Proof.
  assert (P := exp_pos (2 * z)). unfold th. auto_derive; [lra|]. field. lra.
Qed.
(** What starts at zero with a slope that is nowhere negative is nowhere negative. *)
Lemma rises h h' z : 0 <= z -> h 0 = 0 -> (forall x, 0 <= x -> is_derive h x (h' x)) -> (forall x, 0 <= x -> 0 <= h' x) -> 0 <= h z.
Proof.
  intros Z H D P. destruct (MVT_gen h 0 z h') as [c [B E]].
  - rewrite Rmin_left, Rmax_right by exact Z. intros x X. apply D. lra.
  - rewrite Rmin_left, Rmax_right by exact Z. intros x X. apply continuity_pt_filterlim.
    apply (ex_derive_continuous h x). exists (h' x). apply D. lra.
  - rewrite Rmin_left, Rmax_right in B by exact Z. specialize (P c ltac:(lra)). rewrite H in E.
    replace (h z) with (h' c * z) by lra. now apply Rmult_le_pos.
Qed.
Lemma th_zero : th 0 = 0.
Proof. unfold th. rewrite Rmult_0_r, exp_0. field. Qed.
Lemma th_odd z : th (- z) = - th z.
Proof.
  assert (P := exp_pos (2 * z)). unfold th. replace (2 * - z) with (- (2 * z)) by ring. rewrite exp_Ropp. field. lra.
Qed.
Lemma th_square z : 0 <= th z ^ 2 <= 1.
Proof.
  assert (P := exp_pos (2 * z)). assert (P' : 0 < / (1 + exp (2 * z)) < 1).
  { split; [apply Rinv_0_lt_compat; lra|]. rewrite <- Rinv_1 at 2. apply Rinv_lt_contravar; lra. }
  split; [apply pow2_ge_0|]. unfold th. set (r := / (1 + exp (2 * z))) in *. nra.
Qed.
Lemma th_nonneg z : 0 <= z -> 0 <= th z.
Proof.
  intros Z. apply (rises th (fun x => 1 - th x ^ 2)); [exact Z | exact th_zero | intros; apply th_derive|].
  intros x _. generalize (th_square x). lra.
Qed.
Lemma th_above z : 0 <= z -> th z <= z.
Proof.
  intros Z. apply Rminus_le_0. apply (rises (fun x => x - th x) (fun x => th x ^ 2)); [exact Z | rewrite th_zero; ring | |].
  - intros x _. replace (th x ^ 2) with (1 - (1 - th x ^ 2)) by ring.
    apply (is_derive_minus (fun x => x) th); [apply (is_derive_id (K := R_AbsRing)) | apply th_derive].
  - intros x _. apply pow2_ge_0.
Qed.
Lemma th_below z : 0 <= z -> z - z ^ 3 / 3 <= th z.
Proof.
  intros Z. apply Rminus_le_0.
  apply (rises (fun x => th x - (x - x ^ 3 / 3)) (fun x => x ^ 2 - th x ^ 2)); [exact Z | rewrite th_zero; field | |].
  - intros x _. replace (x ^ 2 - th x ^ 2) with ((1 - th x ^ 2) - (1 - x ^ 2)) by ring.
    apply (is_derive_minus th (fun x => x - x ^ 3 / 3)); [apply th_derive | auto_derive; [exact Logic.I | field]].
  - intros x X. generalize (th_above x X), (th_nonneg x X). nra.
Qed.
Lemma th_times z : z ^ 2 - z ^ 4 / 3 <= z * th z <= z ^ 2.
Proof.
  assert (K : forall z, 0 <= z -> z ^ 2 - z ^ 4 / 3 <= z * th z <= z ^ 2).
  { intros x X. generalize (th_above x X), (th_below x X). intros A B. split.
    - replace (x ^ 2 - x ^ 4 / 3) with (x * (x - x ^ 3 / 3)) by field. now apply Rmult_le_compat_l.
    - replace (x ^ 2) with (x * x) by ring. now apply Rmult_le_compat_l. }
  destruct (Rle_lt_dec 0 z) as [P | N]; [now apply K|].
  generalize (K (- z) ltac:(lra)). rewrite th_odd.
  replace ((- z) ^ 2) with (z ^ 2) by ring. replace ((- z) ^ 4) with (z ^ 4) by ring. lra.
Qed.
Lemma w_th u m : w 1 u m = (1 - th (u * IZR m ^ 3 / 2)) / 2.
Proof.
  unfold w, th. change (2 * 1 + 1)%Z with (Z.of_nat 3). rewrite <- pow_IZR.
  replace (2 * (u * IZR m ^ 3 / 2)) with (u * IZR m ^ 3) by field. generalize (exp_pos (u * IZR m ^ 3)). intros P. field. lra.
Qed.
Lemma f_term u m : 0 < u -> w 1 u m * IZR (m ^ (2 * 1 + 1)) <=
  / 2 * IZR m ^ 3 + (- u / 4) * IZR m ^ 6 + u ^ 3 / 48 * IZR m ^ 12.
Proof.
  intros U. rewrite w_th. change (2 * 1 + 1)%Z with (Z.of_nat 3). rewrite <- pow_IZR. set (x := IZR m).
  destruct (th_times (u * x ^ 3 / 2)) as [K _]. apply Rmult_le_reg_l with u; [exact U|].
  replace (u * ((1 - th (u * x ^ 3 / 2)) / 2 * x ^ 3)) with (u * x ^ 3 / 2 - u * x ^ 3 / 2 * th (u * x ^ 3 / 2)) by field.
  replace (u * (/ 2 * x ^ 3 + - u / 4 * x ^ 6 + u ^ 3 / 48 * x ^ 12)) with
    (u * x ^ 3 / 2 - ((u * x ^ 3 / 2) ^ 2 - (u * x ^ 3 / 2) ^ 4 / 3)) by field. lra.
Qed.
Lemma Delta_term u m : 0 < u -> / 2 * IZR m ^ 1 + (- u / 4) * IZR m ^ 4 <= w 1 u m * IZR (m ^ (2 * 1 - 1)).
Proof.
  intros U. rewrite w_th. change (2 * 1 - 1)%Z with (Z.of_nat 1). rewrite <- pow_IZR. set (x := IZR m).
  set (t := th (u * x ^ 3 / 2)). assert (K : x * t <= u * x ^ 4 / 2).
  { destruct (Req_dec x 0) as [-> | N]; [lra|]. assert (0 < x ^ 2) by (apply pow2_gt_0; exact N).
    destruct (th_times (u * x ^ 3 / 2)) as [_ L]. fold t in L.
    apply Rmult_le_reg_l with (u * x ^ 2 / 2); [nra|]. replace (u * x ^ 2 / 2 * (x * t)) with (u * x ^ 3 / 2 * t) by field.
    replace (u * x ^ 2 / 2 * (u * x ^ 4 / 2)) with ((u * x ^ 3 / 2) ^ 2) by field. exact L. }
  lra.
Qed.

(** * Moments are polynomials in n *)

Section Moments.
Variable q : R.
(** q^j n (n - 1) ... (n - j + 1), and E R^k from the partitions of k into j even parts. *)
Fixpoint choose j n := match j with O => 1 | S i => q * (n - INR i) * choose i n end.
Definition r2 n := choose 1 n.
Definition r4 n := choose 1 n + 3 * choose 2 n.
Definition r6 n := choose 1 n + 15 * choose 2 n + 15 * choose 3 n.
Definition r8 n := choose 1 n + 63 * choose 2 n + 210 * choose 3 n + 105 * choose 4 n.
Definition r10 n := choose 1 n + 255 * choose 2 n + 2205 * choose 3 n + 3150 * choose 4 n + 945 * choose 5 n.
Definition r12 n := choose 1 n + 1023 * choose 2 n + 21120 * choose 3 n + 65835 * choose 4 n + 51975 * choose 5 n + 10395 * choose 6 n.
(** E (y + R)^k *)
Definition e1 (n y : R) := y.
Definition e3 n y := y ^ 3 + 3 * y * r2 n.
Definition e4 n y := y ^ 4 + 6 * y ^ 2 * r2 n + r4 n.
Definition e6 n y := y ^ 6 + 15 * y ^ 4 * r2 n + 15 * y ^ 2 * r4 n + r6 n.
Definition e12 n y := y ^ 12 + 66 * y ^ 10 * r2 n + 495 * y ^ 8 * r4 n + 924 * y ^ 6 * r6 n + 495 * y ^ 4 * r8 n + 66 * y ^ 2 * r10 n + r12 n.

Lemma moment k e : (forall y, e 0 y = y ^ k) -> (forall n y, (1 - q) * e n (y + 0) + q / 2 * e n (y + 1) + q / 2 * e n (y + -1) = e (n + 1) y) ->
  forall n m, patches q n (fun x => IZR x ^ k) m = e (INR n) (IZR m).
Proof.
  intros O S. induction n as [|n IH]; intros m; cbn [patches]; [now rewrite O|].
  unfold patch. rewrite !IH, !plus_IZR, S_INR. apply S.
Qed.
Ltac moment := apply moment; intros; unfold e1, e3, e4, e6, e12, r2, r4, r6, r8, r10, r12; cbn [choose INR]; field.
Lemma moment1 n m : patches q n (fun x => IZR x ^ 1) m = e1 (INR n) (IZR m). Proof. moment. Qed.
Lemma moment3 n m : patches q n (fun x => IZR x ^ 3) m = e3 (INR n) (IZR m). Proof. moment. Qed.
Lemma moment4 n m : patches q n (fun x => IZR x ^ 4) m = e4 (INR n) (IZR m). Proof. moment. Qed.
Lemma moment6 n m : patches q n (fun x => IZR x ^ 6) m = e6 (INR n) (IZR m). Proof. moment. Qed.
Lemma moment12 n m : patches q n (fun x => IZR x ^ 12) m = e12 (INR n) (IZR m). Proof. moment. Qed.
End Moments.

Lemma patches_times q n c g m : patches q n (fun x => c * g x) m = c * patches q n g m.
Proof. revert m. induction n as [|n IH]; intros m; cbn [patches]; [reflexivity|]. unfold patch. rewrite !IH. ring. Qed.

Section ByMoments.
Variables (q d : R) (n : nat) (C : Z).
Let x := INR n.
Let y := IZR C.
Definition turned e := patch q (fun a => patch q (fun b => IZR (1 - a) * IZR (1 - b) * e (x - 2) (y + IZR a + IZR b))).
Hypothesis q_range : 0 <= q <= 1.
Hypothesis n_two : (2 <= n)%nat.

Lemma f_moments u : 0 < u -> f 1 q n C u <= / 2 * e3 q x y + (- u / 4) * e6 q x y + u ^ 3 / 48 * e12 q x y.
Proof.
  intros U. unfold x, y. rewrite <- moment3, <- moment6, <- moment12, <- !patches_times, <- !patches_plus.
  apply patches_le; [exact q_range|]. intros m. now apply f_term.
Qed.
Lemma Delta_moments u : 0 < u -> / 2 * turned e1 + (- u / 4) * turned (e4 q) <= Delta 1 q n C u.
Proof.
  intros U.
  replace (/ 2 * turned e1 + (- u / 4) * turned (e4 q)) with (patch q (fun a => patch q (fun b => IZR (1 - a) * IZR (1 - b) *
    (/ 2 * e1 (x - 2) (y + IZR a + IZR b) + (- u / 4) * e4 q (x - 2) (y + IZR a + IZR b))))) by (unfold turned, patch; ring).
  apply patch_le; [exact q_range|]. intros a A. apply patch_le; [exact q_range|]. intros b B.
  apply Rmult_le_compat_l; [apply Rmult_le_pos; apply IZR_le; lia|].
  replace (x - 2) with (INR (n - 2)) by (unfold x; rewrite minus_INR by exact n_two; cbn; ring).
  unfold y. rewrite <- !plus_IZR, <- (moment1 q), <- moment4, <- !patches_times, <- patches_plus.
  apply patches_le; [exact q_range|]. intros m. now apply Delta_term.
Qed.
Lemma win_by_moments : 0 < d -> 0 < e3 q x y -> 0 < e6 q x y ->
  (1 + d) ^ 3 * e3 q x y ^ 2 * e12 q x y < 3 * d * e6 q x y ^ 3 ->
  (1 + d) * e3 q x y * turned (e4 q) < e6 q x y * turned e1 -> Companions_win 1 q n C.
Proof.
  set (A := e3 q x y). set (B := e6 q x y). set (H := e12 q x y). intros D PA PB F G.
  set (u := (1 + d) * 2 * A / B). assert (U : 0 < u) by (apply Rdiv_lt_0_compat; [|exact PB]; nra).
  apply win_by_one_sign with u; [lia | exact q_range | |].
  - eapply Rle_lt_trans; [now apply f_moments|]. fold A B H.
    replace (/ 2 * A + - u / 4 * B + u ^ 3 / 48 * H) with (A / (6 * B ^ 3) * ((1 + d) ^ 3 * A ^ 2 * H - 3 * d * B ^ 3)) by (unfold u; field; lra).
    assert (0 < A / (6 * B ^ 3)) by (apply Rdiv_lt_0_compat; [exact PA|]; apply Rmult_lt_0_compat; [lra | now apply pow_lt]). nra.
  - eapply Rlt_le_trans; [|now apply Delta_moments].
    replace (/ 2 * turned e1 + - u / 4 * turned (e4 q)) with (/ (2 * B) * (B * turned e1 - (1 + d) * A * turned (e4 q))) by (unfold u; field; lra).
    apply Rmult_lt_0_compat; [apply Rinv_0_lt_compat|]; lra.
Qed.
End ByMoments.

(** A polynomial in t > 0 is positive where all its coefficients are. *)
Ltac positive_polynomial := match goal with |- 0 < ?p => field_simplify p end;
  apply Rdiv_lt_0_compat; [|lra]; repeat first [apply Rplus_lt_0_compat | apply Rmult_lt_0_compat | apply pow_lt | lra].
Lemma by_moments_from n : (3256 <= Z.of_nat n)%Z -> Companions_win 1 (3 / 10) n 4.
Proof.
  intros Z. assert (N : exists t, 0 < t /\ INR n = 3255 + t).
  { exists (INR n - 3255). rewrite INR_IZR_INZ. apply IZR_le in Z. lra. }
  destruct N as [t [T N]]. apply win_by_moments with (2 / 5); [lra | lia | lra | | | |];
    unfold turned, patch, e1, e3, e4, e6, e12, r2, r4, r6, r8, r10, r12; cbn [choose INR]; rewrite ?minus_IZR, !N.
  - lra.
  - positive_polynomial.
  - apply Rminus_lt_0. positive_polynomial.
  - apply Rminus_lt_0. positive_polynomial.
Qed.
