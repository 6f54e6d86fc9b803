(** Two inequalities between the six numbers are enough: the form is nowhere positive on rows of attention. *)
From Coq Require Import Reals ZArith List Lra Lia.
From Book Require Import Ball Vote Blocks Risk Form.
Import ListNotations.
Open Scope R_scope.

Definition nonneg (x : list R) := Forall (fun y => 0 <= y) x.
Lemma power_nonneg k x : nonneg x -> 0 <= power k x.
Proof. intros H. induction H as [|y x Hy _ IH]; unfold power in *; cbn [fold_right]; [lra|]. generalize (pow_le y k Hy). lra. Qed.
Lemma entry_le x y : nonneg x -> In y x -> y <= power 1 x.
Proof.
  intros H. induction H as [|z x Hz Hx IH]; intros I; [easy|]. change (power 1 (z :: x)) with (z ^ 1 + power 1 x).
  destruct I as [-> | I]; [generalize (power_nonneg 1 x Hx) | generalize (IH I)]; lra.
Qed.
(** Chebyshev's inequality for the entries y and W - y: the sum of (y - z)^2 (W - y - z) over pairs. *)
Lemma pairs W x l : (forall y, In y l -> 0 <= y <= W - x) ->
  0 <= INR (length l) * (x ^ 2 * (W - x)) - x ^ 2 * power 1 l - 2 * x * (W - x) * power 1 l + (W + x) * power 2 l - power 3 l.
Proof.
  induction l as [|y l IH]; intros H; [unfold power; cbn; lra|].
  generalize (IH (fun z Z => H z (or_intror Z))). change (length (y :: l)) with (S (length l)). rewrite S_INR.
  change (power 1 (y :: l)) with (y ^ 1 + power 1 l). change (power 2 (y :: l)) with (y ^ 2 + power 2 l).
  change (power 3 (y :: l)) with (y ^ 3 + power 3 l).
  assert (P : 0 <= (x - y) ^ 2 * (W - x - y)).
  { apply Rmult_le_pos; [apply pow2_ge_0|]. generalize (H y (or_introl eq_refl)). lra. }
  intros I. nra.
Qed.
Lemma chebyshev W x : nonneg x -> power 1 x <= W ->
  power 1 x * (W * power 1 x - power 2 x) <= INR (length x) * (W * power 2 x - power 3 x).
Proof.
  intros H. induction H as [|y x Hy Hx IH]; intros L; [unfold power; cbn; lra|].
  change (power 1 (y :: x)) with (y ^ 1 + power 1 x) in *. change (power 2 (y :: x)) with (y ^ 2 + power 2 x).
  change (power 3 (y :: x)) with (y ^ 3 + power 3 x). change (length (y :: x)) with (S (length x)). rewrite S_INR.
  assert (P := power_nonneg 1 x Hx).
  assert (Q : forall z, In z x -> 0 <= z <= W - y).
  { intros z Z. split; [unfold nonneg in Hx; rewrite Forall_forall in Hx; now apply Hx|].
    generalize (entry_le x z Hx Z). lra. }
  generalize (pairs W y x Q), (IH ltac:(lra)). nra.
Qed.
Lemma around c x : nonneg x -> 0 <= power 3 x - 2 * c * power 2 x + c ^ 2 * power 1 x.
Proof.
  intros H. induction H as [|y x Hy Hx IH]; [unfold power; cbn; lra|].
  change (power 1 (y :: x)) with (y ^ 1 + power 1 x) in *. change (power 2 (y :: x)) with (y ^ 2 + power 2 x).
  change (power 3 (y :: x)) with (y ^ 3 + power 3 x). generalize (Rmult_le_pos _ _ Hy (pow2_ge_0 (y - c))). nra.
Qed.
Lemma spread c x : 0 <= power 2 x - 2 * c * power 1 x + INR (length x) * c ^ 2.
Proof.
  induction x as [|y x IH]; [unfold power; cbn; lra|].
  change (power 1 (y :: x)) with (y ^ 1 + power 1 x) in *. change (power 2 (y :: x)) with (y ^ 2 + power 2 x).
  change (length (y :: x)) with (S (length x)). rewrite S_INR. generalize (pow2_ge_0 (y - c)). nra.
Qed.
Lemma squares x : nonneg x -> power 2 x <= power 1 x ^ 2.
Proof.
  intros H. induction H as [|y x Hy Hx IH]; [unfold power; cbn; lra|].
  change (power 1 (y :: x)) with (y ^ 1 + power 1 x) in *. change (power 2 (y :: x)) with (y ^ 2 + power 2 x).
  generalize (Rmult_le_pos _ _ Hy (power_nonneg 1 x Hx)). nra.
Qed.
Lemma triples x : nonneg x -> 0 <= power 1 x ^ 3 - 3 * power 1 x * power 2 x + 2 * power 3 x.
Proof.
  intros H. induction H as [|y x Hy Hx IH]; [unfold power; cbn; lra|].
  change (power 1 (y :: x)) with (y ^ 1 + power 1 x) in *. change (power 2 (y :: x)) with (y ^ 2 + power 2 x).
  change (power 3 (y :: x)) with (y ^ 3 + power 3 x).
  assert (S := squares x Hx). generalize (Rmult_le_pos y (power 1 x ^ 2 - power 2 x) Hy ltac:(lra)). nra.
Qed.

Section Inequality.
Variables (C L : nat) (t1 t2 t3 t4 t5 td b k p r : R).
Hypothesis C_size : (2 <= C)%nat.
Hypothesis L_size : (3 <= L)%nat.
Let c := Blocks.c C.
Let u := Blocks.u C t4 t5.
Let K := t1 - 3 * t2 + 2 * t3.
(** The form vanishes at the uniform row of a set. *)
Hypothesis at_block : K + 3 * (t2 - t3) * c + t3 * c ^ 2 = 0.
Hypothesis b_one : b <= - t1.
Hypothesis b_two : C = 2%nat \/ b <= second C t1 t2 t3.
(** r^2 = b, and p between r and the root of a + b. *)
Let a := 3 * Rmax (t4 - u) 0.
Hypothesis r_is : 0 <= r /\ r ^ 2 = b.
Hypothesis p_is : 0 <= p /\ r <= p /\ p ^ 2 <= a + b.
Let w := a + b - p ^ 2.        (* c of the text, 0 <= w <= a *)
Hypothesis enough : 3 * u + w + INR L * (p - r) ^ 2 + (INR L - 2) * Rmax td 0 <= 0.

Lemma c_is2 : 2 <= c.
Proof. unfold c, Blocks.c. change 2 with (INR 2). now apply le_INR. Qed.

Lemma of_one_set x : length x = C -> nonneg x -> power 1 x <= 1 ->
  let m := power 1 x in
  K * power 3 x + 3 * (t2 - t3) * m * power 2 x + t3 * m ^ 3 + 3 * (1 - m) * ((t4 - t5) * power 2 x + t5 * m ^ 2)
  <= 3 * u * (m ^ 2 * (1 - m)) + m * (1 - m) * ((p - r) ^ 2 + w * m).
Proof.
  intros Hl H m1. cbv zeta. assert (c2 := c_is2).
  assert (lc : INR (length x) = c) by (rewrite Hl; reflexivity).
  assert (m0 := power_nonneg 1 x H). assert (Ch := chebyshev (power 1 x) x H (Rle_refl _)).
  assert (Ar := around (power 1 x / c) x H). assert (Sp := spread (power 1 x / c) x). assert (Sq := squares x H).
  assert (two : C = 2%nat -> power 3 x = power 1 x * power 2 x - power 1 x * (power 1 x ^ 2 - power 2 x) / 2).
  { intros e. rewrite e in Hl. destruct x as [|y [|z [|? ?]]]; cbn in Hl; try lia. unfold power. cbn [fold_right]. field. }
  rewrite lc in *. set (m := power 1 x) in *. set (p2 := power 2 x) in *. set (p3 := power 3 x) in *. clearbody m p2 p3.
  pose (e := (p2 - m ^ 2 / c) / (1 - 1 / c)).
  assert (cc : 0 < 1 - 1 / c).
  { assert (1 / c <= 1 / 2); [|lra]. unfold Rdiv. rewrite !Rmult_1_l. apply Rinv_le_contravar; lra. }
  assert (p2e : p2 = m ^ 2 / c + (1 - 1 / c) * e) by (unfold e; field; lra).
  assert (Sp' : 0 <= p2 - m ^ 2 / c).
  { replace (p2 - m ^ 2 / c) with (p2 - 2 * (m / c) * m + c * (m / c) ^ 2) by (field; lra). exact Sp. }
  assert (e0 : 0 <= e) by (unfold e; apply Rmult_le_pos; [exact Sp' | left; now apply Rinv_0_lt_compat]).
  assert (e1 : e <= m ^ 2).
  { apply (Rmult_le_reg_l (1 - 1 / c)); [exact cc|].
    replace ((1 - 1 / c) * e) with (p2 - m ^ 2 / c) by (unfold e; field; lra).
    replace ((1 - 1 / c) * m ^ 2) with (m ^ 2 - m ^ 2 / c) by (field; lra). lra. }
  (* p3 between its two bounds *)
  assert (low : (1 - 1 / c) * (2 / c) * m * e <= p3 - m ^ 3 / c ^ 2).
  { replace ((1 - 1 / c) * (2 / c) * m * e) with (2 / c * m * (p2 - m ^ 2 / c)) by (rewrite p2e; ring).
    assert (Z : p3 - 2 * (m / c) * p2 + (m / c) ^ 2 * m = (p3 - m ^ 3 / c ^ 2) - 2 / c * m * (p2 - m ^ 2 / c)) by (field; lra).
    rewrite Z in Ar. lra. }
  assert (high : p3 - m ^ 3 / c ^ 2 <= (1 - 1 / c) * ((c + 1) / c) * m * e).
  { replace ((1 - 1 / c) * ((c + 1) / c) * m * e) with ((c + 1) / c * m * (p2 - m ^ 2 / c)) by (rewrite p2e; ring).
    apply (Rmult_le_reg_l c); [lra|].
    assert (Z : c * ((c + 1) / c * m * (p2 - m ^ 2 / c)) - c * (p3 - m ^ 3 / c ^ 2) = c * (m * p2 - p3) - m * (m * m - p2)) by (field; lra).
    lra. }
  assert (same : C = 2%nat -> p3 - m ^ 3 / c ^ 2 = (1 - 1 / c) * ((c + 1) / c) * m * e).
  { intros e2. replace ((1 - 1 / c) * ((c + 1) / c) * m * e) with ((c + 1) / c * m * (p2 - m ^ 2 / c)) by (rewrite p2e; ring).
    rewrite (two e2). replace c with 2 by (unfold c, Blocks.c; rewrite e2; reflexivity). field. }
  (* inside the set *)
  assert (t3_is : t3 = - (K + 3 * (t2 - t3) * c) / c ^ 2).
  { apply (Rmult_eq_reg_r (c ^ 2)); [|apply pow_nonzero; lra]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by (apply pow_nonzero; lra). lra. }
  assert (t1_is : t1 = (1 - 1 / c) * (K * ((c + 1) / c) + 3 * (t2 - t3))).
  { apply (Rmult_eq_reg_r (c ^ 2)); [|apply pow_nonzero; lra].
    replace ((1 - 1 / c) * (K * ((c + 1) / c) + 3 * (t2 - t3)) * c ^ 2) with ((c - 1) * (K * (c + 1) + 3 * (t2 - t3) * c)) by (field; lra).
    assert (X : t1 = K + 3 * (t2 - t3) + t3) by (unfold K; ring). rewrite X at 1.
    assert (Y : t3 * c ^ 2 = - (K + 3 * (t2 - t3) * c)) by lra.
    replace ((K + 3 * (t2 - t3) + t3) * c ^ 2) with ((K + 3 * (t2 - t3)) * c ^ 2 + t3 * c ^ 2) by ring. rewrite Y. ring. }
  assert (second_is : second C t1 t2 t3 = - ((1 - 1 / c) * (K * (2 / c) + 3 * (t2 - t3)))).
  { unfold second. fold c. unfold K. field. lra. }
  assert (me : 0 <= m * e) by (apply Rmult_le_pos; assumption).
  assert (inside : K * p3 + 3 * (t2 - t3) * m * p2 + t3 * m ^ 3 <= - b * m * e).
  { assert (X : K * p3 + 3 * (t2 - t3) * m * p2 + t3 * m ^ 3 = K * (p3 - m ^ 3 / c ^ 2) + 3 * (t2 - t3) * m * ((1 - 1 / c) * e)).
    { assert (Y : t3 * m ^ 3 = - (K + 3 * (t2 - t3) * c) / c ^ 2 * m ^ 3) by (now rewrite <- t3_is).
      rewrite Y, p2e. field. lra. }
    rewrite X.
    assert (up : K * ((1 - 1 / c) * ((c + 1) / c) * m * e) + 3 * (t2 - t3) * m * ((1 - 1 / c) * e) = t1 * (m * e)) by (rewrite t1_is; ring).
    assert (down : K * ((1 - 1 / c) * (2 / c) * m * e) + 3 * (t2 - t3) * m * ((1 - 1 / c) * e) = - second C t1 t2 t3 * (m * e)) by (rewrite second_is; ring).
    destruct (Rle_lt_dec 0 K) as [pos | neg].
    - assert (Z := Rmult_le_compat_l K _ _ pos high). assert (V := Rmult_le_compat_r _ _ _ me b_one). nra.
    - destruct b_two as [e2 | b2].
      + rewrite (same e2). assert (V := Rmult_le_compat_r _ _ _ me b_one). nra.
      + assert (Z : K * (p3 - m ^ 3 / c ^ 2) <= K * ((1 - 1 / c) * (2 / c) * m * e)) by (apply Rmult_le_compat_neg_l; lra).
        assert (V := Rmult_le_compat_r _ _ _ me b2). nra. }
  (* between sets *)
  assert (outside : (t4 - t5) * p2 + t5 * m ^ 2 = u * m ^ 2 + (t4 - u) * e).
  { rewrite p2e. unfold u, Blocks.u. fold c. field. lra. }
  assert (room : e * (a * (1 - m) - b * m) <= m * (1 - m) * ((p - r) ^ 2 + w * m)).
  { destruct r_is as [r0 r2], p_is as [p0 [rp pa]].
    assert (w0 : 0 <= w) by (unfold w; lra).
    assert (right : 0 <= m * (1 - m) * ((p - r) ^ 2 + w * m)).
    { apply Rmult_le_pos; [apply Rmult_le_pos; lra|]. generalize (pow2_ge_0 (p - r)), (Rmult_le_pos _ _ w0 m0). lra. }
    destruct (Rle_lt_dec (a * (1 - m) - b * m) 0) as [n | s]; [nra|].
    apply Rle_trans with (m ^ 2 * (a * (1 - m) - b * m)); [apply Rmult_le_compat_r; lra|].
    assert (Z : m * (1 - m) * ((p - r) ^ 2 + w * m) - m ^ 2 * (a * (1 - m) - b * m) = m * (p * (1 - m) - r) ^ 2).
    { unfold w. rewrite <- r2. ring. }
    generalize (Rmult_le_pos _ _ m0 (pow2_ge_0 (p * (1 - m) - r))). lra. }
  rewrite outside.
  assert (gain : 3 * (t4 - u) <= a) by (unfold a; generalize (Rmax_l (t4 - u) 0); lra).
  assert (G : 3 * (t4 - u) * ((1 - m) * e) <= a * ((1 - m) * e)) by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra | exact gain]).
  nra.
Qed.

Lemma six_nowhere_positive a0 : shaped C a0 -> length a0 = L -> M 1 a0 = 1 -> Forall nonneg a0 ->
  six t1 t2 t3 t4 t5 td a0 <= 0.
Proof.
  intros Hs Hl one Hn.
  assert (masses : forall j, M j a0 = power j (map (power 1) a0)).
  { intros j. unfold M, tot. clear. induction a0 as [|x l IH]; [reflexivity|]. cbn [fold_right map]. rewrite IH. reflexivity. }
  assert (mn : nonneg (map (power 1) a0)).
  { unfold nonneg. apply Forall_map. eapply Forall_impl; [|exact Hn]. intros x X. now apply power_nonneg. }
  assert (Ch := chebyshev 1 _ mn). assert (Tr := triples _ mn). assert (Sq := squares _ mn).
  rewrite <- !masses, one in *. rewrite map_length, Hl in Ch. specialize (Ch ltac:(lra)).
  assert (top : forall x, In x a0 -> power 1 x <= 1).
  { intros x X. rewrite <- one, masses. apply entry_le; [exact mn | now apply in_map]. }
  assert (Sum : K * P3 a0 + 3 * ((t2 - t3) * QM a0 + (t4 - t5) * (Q2 a0 - QM a0)) + t3 * M 3 a0 + 3 * t5 * (M 2 a0 - M 3 a0)
    <= 3 * u * (M 2 a0 - M 3 a0) + (p - r) ^ 2 * (M 1 a0 - M 2 a0) + w * (M 2 a0 - M 3 a0)).
  { clear - Hs Hn top C_size L_size at_block b_one b_two r_is p_is. unfold M, P3, QM, Q2, tot.
    induction a0 as [|x l IH]; [cbn; lra|].
    specialize (IH (Forall_inv_tail Hs) (Forall_inv_tail Hn) (fun y Y => top y (or_intror Y))).
    assert (X := of_one_set x (Forall_inv Hs) (Forall_inv Hn) (top x (or_introl eq_refl))). cbv zeta in X.
    cbn [fold_right]. nra. }
  rewrite one in Sum.
  unfold six. fold K. set (X := 1 - M 2 a0) in *. set (Y := M 2 a0 - M 3 a0) in *.
  assert (l3 : 3 <= INR L) by (generalize (le_INR _ _ L_size); cbn; lra).
  assert (X0 : 0 <= X) by (unfold X; lra).
  assert (YX : X <= INR L * Y) by (unfold X, Y; lra).
  assert (T0 : 0 <= X - 2 * Y) by (unfold X, Y; lra).
  set (T := Rmax td 0) in *. assert (T1 : td <= T) by apply Rmax_l. assert (T2 : 0 <= T) by apply Rmax_r.
  assert (w0 : 0 <= w) by (unfold w; lra).
  set (k0 := (p - r) ^ 2) in *. assert (K0 : 0 <= k0) by apply pow2_ge_0.
  assert (neg : 3 * u + w <= 0).
  { assert (0 <= INR L * k0) by (apply Rmult_le_pos; lra). assert (0 <= (INR L - 2) * T) by (apply Rmult_le_pos; lra). lra. }
  assert (bound : (3 * u + w) * Y + k0 * X + T * (X - 2 * Y) <= 0).
  { apply (Rmult_le_reg_l (INR L)); [lra|]. rewrite Rmult_0_r.
    assert (A1 : (3 * u + w) * (INR L * Y) <= (3 * u + w) * X) by (apply Rmult_le_compat_neg_l; lra).
    assert (A2 : T * (2 * X) <= T * (2 * (INR L * Y))) by (apply Rmult_le_compat_l; lra).
    assert (A3 : X * (3 * u + w + INR L * k0 + (INR L - 2) * T) <= 0).
    { rewrite <- (Rmult_0_r X). now apply Rmult_le_compat_l. }
    nra. }
  assert (td_part : td * (1 + 2 * M 3 a0 - 3 * M 2 a0) <= T * (X - 2 * Y)).
  { replace (1 + 2 * M 3 a0 - 3 * M 2 a0) with (X - 2 * Y) by (unfold X, Y; ring). now apply Rmult_le_compat_r. }
  nra.
Qed.
End Inequality.
