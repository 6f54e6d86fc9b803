(** At equal scores no score moves, whatever the size, the law, the activation and the value vector along the
    feature. The claim is [Rests]. *)
(** In the book: ours-certified-still. *)
From Coq Require Import Reals ZArith List Bool Lra Lia.
From Coquelicot Require Import Coquelicot.
From Book Require Import Ball Vote Blocks Risk Form.
Import ListNotations.
Open Scope R_scope.

Section Still.
Variables (q : R) (C L : nat).

(** * The claim *)

(** The softmax of a row of scores. *)
Definition soft (n : nat) (a : nat -> R) (j : nat) : R := exp (a j) / below n (fun k => exp (a k)).
(** y F with the scores t B i j, the value vector alpha w*, and an activation. *)
Definition yF_at (act : R -> R) (alpha : R) (B : nat -> nat -> R) (t : R) (x : list (list Z)) : R :=
  below (L * C) (fun i => act (INR (L * C) * heard C L (soft (L * C) (fun j => t * B i j)) (fun j => alpha * sign x j))).
(** Along every change B of the scores, the diagonal too, the slope of the risk at equal scores is zero. *)
Definition Rests := forall act act' alpha B, (forall z, is_derive act z (act' z)) ->
  is_derive (fun t => input_mean q C L (fun x => loss (yF_at act alpha B t x))) 0 0.

(** * Patches are alike: E[g(M) s_j] is the same for every patch *)

Hypothesis q_range : 0 <= q <= 1.
Hypothesis C_positive : (1 <= C)%nat.
Hypothesis L_positive : (1 <= L)%nat.
Notation words := (words q).
Notation sets := (sets q C).
Notation input_mean := (input_mean q C L).

Definition total (x : list (list Z)) : Z := sum (concat x).

Lemma sum_app l r : sum (l ++ r) = (sum l + sum r)%Z.
Proof. induction l as [|s l IH]; cbn; [reflexivity|]. unfold sum in *. cbn. rewrite IH. ring. Qed.
Lemma sum_ones n : sum (repeat 1%Z n) = Z.of_nat n.
Proof. induction n as [|n IH]; [reflexivity|]. cbn [repeat]. change (sum (1%Z :: repeat 1%Z n)) with (1 + sum (repeat 1%Z n))%Z. lia. Qed.

Lemma words_app a b F : words (a + b) F = words a (fun l => words b (fun r => F (l ++ r))).
Proof.
  revert F. induction a as [|a IH]; intros F; [reflexivity|]. cbn [Nat.add Blocks.words]. unfold patch.
  rewrite !IH. reflexivity.
Qed.
Lemma sets_flat k F : sets k (fun r => F (concat r)) = words (k * C) F.
Proof.
  revert F. induction k as [|k IH]; intros F; [reflexivity|]. cbn [Nat.mul Risk.sets]. rewrite words_app.
  apply words_ext. intros l. exact (IH (fun r => F (l ++ r))).
Qed.
Lemma one_sign n i G : (i < n)%nat -> words n (fun y => IZR (nth i y 0%Z) * G (sum y)) = e1 q (n - 1) G.
Proof.
  revert i G. induction n as [|n IH]; intros i G H; [lia|]. replace (S n - 1)%nat with n by lia.
  destruct i as [|i]; [reflexivity|]. cbn [Blocks.words].
  rewrite (patch_ext q _ (fun s => e1 q (n - 1) (shift s G))).
  - rewrite more1. f_equal. lia.
  - intros s. rewrite <- (IH i) by lia. apply words_ext. intros l. reflexivity.
Qed.

Lemma concat_cut l r : List.Forall (fun s : list Z => length s = C) r ->
  concat (firstn l r) = firstn (l * C) (concat r) /\ concat (skipn l r) = skipn (l * C) (concat r).
Proof.
  revert r. induction l as [|l IH]; intros r H; [split; reflexivity|]. destruct r as [|s r].
  - cbn. now rewrite firstn_nil, skipn_nil.
  - destruct (IH r (Forall_inv_tail H)) as [H1 H2]. assert (E := Forall_inv H). cbn beta in E.
    cbn [firstn skipn concat Nat.mul]. rewrite firstn_app, skipn_app, E.
    replace (C + l * C - C)%nat with (l * C)%nat by lia.
    rewrite (firstn_all2 s) by (rewrite E; lia). rewrite (skipn_all2 s) by (rewrite E; lia). rewrite H1, H2. now split.
Qed.
Lemma length_flat k r : of_signs C k r -> length (concat r) = (k * C)%nat.
Proof.
  revert r. induction k as [|k IH]; intros r [H K]; destruct r as [|s r]; try discriminate; [reflexivity|].
  cbn [concat Nat.mul]. rewrite app_length, (IH r) by (split; [exact (Forall_inv_tail H) | now injection K]).
  now destruct (Forall_inv H) as [_ ->].
Qed.

Let n := ((L - 1) * C)%nat.
Definition heard_in_set g := words n (fun y => g (Z.of_nat C + sum y)%Z).
Definition heard_outside g := e1 q (n - 1) (shift (Z.of_nat C) g).
Definition inside (l j : nat) := andb (l * C <=? j)%nat (j <? l * C + C)%nat.

Lemma placed_sum l r : total (placed C l r) = (Z.of_nat C + sum (concat r))%Z.
Proof.
  unfold total, placed. rewrite concat_app. cbn [concat]. rewrite !sum_app, sum_ones.
  rewrite <- (firstn_skipn l r) at 3. rewrite concat_app, sum_app. ring.
Qed.
Lemma placed_sign l r j : (l < L)%nat -> (j < L * C)%nat -> of_signs C (L - 1) r ->
  sign (placed C l r) j = if inside l j then 1 else IZR (nth (if (j <? l * C)%nat then j else j - C) (concat r) 0%Z).
Proof.
  intros Hl Hj Hr. assert (Len := length_flat _ _ Hr). destruct Hr as [Hr _].
  assert (Hr' : List.Forall (fun s : list Z => length s = C) r) by (eapply Forall_impl; [|exact Hr]; now intros s [_ H]).
  destruct (concat_cut l r Hr') as [E1 E2]. unfold sign, placed. rewrite concat_app. cbn [concat]. rewrite E1, E2.
  set (y := concat r) in *. assert (B : (l * C <= length y)%nat) by (rewrite Len; apply Nat.mul_le_mono_r; lia).
  assert (F : length (firstn (l * C) y) = (l * C)%nat) by (apply firstn_length_le; exact B).
  unfold inside. destruct (Nat.leb_spec (l * C) j) as [H1 | H1]; destruct (Nat.ltb_spec j (l * C + C)) as [H2 | H2]; cbn [andb].
  - rewrite app_nth2, F, app_nth1 by (rewrite ?repeat_length; lia). f_equal. apply (ones L L_positive). lia.
  - destruct (Nat.ltb_spec j (l * C)) as [H3 | _]; [lia|].
    rewrite app_nth2, F, app_nth2, repeat_length by (rewrite ?repeat_length; lia).
    f_equal. rewrite <- (firstn_skipn (l * C) y) at 2. rewrite app_nth2, F by lia. f_equal. lia.
  - destruct (Nat.ltb_spec j (l * C)) as [_ | H3]; [|lia]. rewrite app_nth1 by lia.
    f_equal. rewrite <- (firstn_skipn (l * C) y) at 2. now rewrite app_nth1 by lia.
  - lia.
Qed.

Lemma sets_ext_signs k g h : (forall r, of_signs C k r -> g r = h r) -> sets k g = sets k h.
Proof. intros H. apply Rle_antisym; apply sets_le; try exact q_range; intros r Hr; rewrite (H r Hr); apply Rle_refl. Qed.

Lemma one_place g l j : (l < L)%nat -> (j < L * C)%nat ->
  sets (L - 1) (fun r => g (total (placed C l r)) * sign (placed C l r) j) =
  if inside l j then heard_in_set g else heard_outside g.
Proof.
  intros Hl Hj. set (k := if (j <? l * C)%nat then j else (j - C)%nat).
  set (F := fun y => g (Z.of_nat C + sum y)%Z * (if inside l j then 1 else IZR (nth k y 0%Z))).
  rewrite (sets_ext_signs _ _ (fun r => F (concat r))).
  - rewrite (sets_flat (L - 1) F). fold n. unfold F, heard_in_set, heard_outside. destruct (inside l j) eqn:E.
    + apply words_ext. intros y. ring.
    + rewrite <- (one_sign n k).
      * apply words_ext. intros y. unfold shift. ring.
      * unfold k, n. unfold inside in E. apply andb_false_iff in E. rewrite Nat.leb_nle, Nat.ltb_nlt in E.
        destruct (Nat.ltb_spec j (l * C)) as [H | H].
        -- apply Nat.lt_le_trans with (l * C)%nat; [exact H|]. apply Nat.mul_le_mono_r. lia.
        -- assert (S : (L * C = (L - 1) * C + C)%nat) by (replace L with (S (L - 1)) at 1 by lia; cbn [Nat.mul]; lia). lia.
  - intros r Hr. unfold F. rewrite placed_sum, placed_sign by assumption. reflexivity.
Qed.

Lemma pick m k a b : (k < m)%nat -> below m (fun l => if (l =? k)%nat then a else b) = a + (INR m - 1) * b.
Proof.
  induction m as [|m IH]; intros H; [lia|]. cbn [below]. rewrite S_INR. destruct (Nat.eqb_spec m k) as [-> | N].
  - rewrite (below_ext _ _ (fun _ => b)); [rewrite below_const; ring|].
    intros l Hl. destruct (Nat.eqb_spec l k); [lia | reflexivity].
  - rewrite IH by lia. ring.
Qed.

Definition one g := (heard_in_set g + (INR L - 1) * heard_outside g) / INR L.
Lemma alike g j : (j < L * C)%nat -> input_mean (fun x => g (total x) * sign x j) = one g.
Proof.
  intros Hj. unfold Risk.input_mean, one. f_equal. rewrite <- (pick L (j / C)).
  - apply below_ext. intros l Hl. rewrite one_place by assumption.
    assert (D := Nat.div_mod j C ltac:(lia)). assert (M := Nat.mod_upper_bound j C ltac:(lia)).
    assert (E : inside l j = (l =? j / C)%nat); [|now rewrite E].
    unfold inside. apply Bool.eq_iff_eq_true. rewrite andb_true_iff, Nat.leb_le, Nat.ltb_lt, Nat.eqb_eq.
    split; [|intros ->; nia]. intros [H1 H2]. apply (Nat.div_unique j C l (j - C * l)); nia.
  - apply Nat.div_lt_upper_bound; lia.
Qed.

Lemma sum_below l : below (length l) (fun j => IZR (nth j l 0%Z)) = IZR (sum l).
Proof.
  induction l as [|s l IH]; [reflexivity|]. cbn [length].
  assert (F : forall k f, below (S k) f = f 0%nat + below k (fun j => f (S j))).
  { intros k f. induction k as [|k IHk]; [cbn; ring|]. change (below (S (S k)) f) with (below (S k) f + f (S k)). rewrite IHk. cbn [below]. ring. }
  rewrite F. cbn [nth]. rewrite IH. change (sum (s :: l)) with (s + sum l)%Z. rewrite plus_IZR. ring.
Qed.
Lemma total_below x : of_signs C L x -> below (L * C) (sign x) = IZR (total x).
Proof. intros H. unfold total. rewrite <- sum_below, (length_flat _ _ H). reflexivity. Qed.

Lemma patches_alike g j k : (j < L * C)%nat -> (k < L * C)%nat ->
  input_mean (fun x => g (total x) * sign x j) = input_mean (fun x => g (total x) * sign x k).
Proof. intros J K. now rewrite !alike. Qed.

(** * The slope *)

Lemma below_derive m (f : nat -> R -> R) (d : nat -> R) (t : R) : (forall j, (j < m)%nat -> is_derive (f j) t (d j)) ->
  is_derive (fun s => below m (fun j => f j s)) t (below m d).
Proof.
  induction m as [|m IH]; intros H; cbn [below]; [exact (is_derive_const (V := R_NormedModule) 0 t)|].
  apply (is_derive_plus (fun s => below m (fun j => f j s)) (f m)); [apply IH; intros; apply H; lia | apply H; lia].
Qed.
Lemma words_derive m (f : list Z -> R -> R) (d : list Z -> R) (t : R) : (forall l, is_derive (f l) t (d l)) ->
  is_derive (fun s => words m (fun l => f l s)) t (words m d).
Proof.
  revert f d. induction m as [|m IH]; intros f d H; cbn [Blocks.words]; [apply H|]. unfold patch.
  apply (is_derive_plus (fun s => (1 - q) * words m (fun l => f (0%Z :: l) s) + q / 2 * words m (fun l => f (1%Z :: l) s))
    (fun s => q / 2 * words m (fun l => f ((-1)%Z :: l) s))).
  - apply (is_derive_plus (fun s => (1 - q) * words m (fun l => f (0%Z :: l) s)) (fun s => q / 2 * words m (fun l => f (1%Z :: l) s)));
      apply is_derive_scal; apply (IH (fun l => f (_ :: l))); intros; apply H.
  - apply is_derive_scal. apply (IH (fun l => f (_ :: l))). intros. apply H.
Qed.
Lemma sets_derive k (f : list (list Z) -> R -> R) (d : list (list Z) -> R) (t : R) : (forall r, is_derive (f r) t (d r)) ->
  is_derive (fun s => sets k (fun r => f r s)) t (sets k d).
Proof.
  revert f d. induction k as [|k IH]; intros f d H; cbn [Risk.sets]; [apply H|].
  apply (words_derive C (fun l s => sets k (fun r => f (l :: r) s))). intros l. apply (IH (fun r => f (l :: r))). intros. apply H.
Qed.
Lemma input_derive (f : list (list Z) -> R -> R) (d : list (list Z) -> R) (t : R) : (forall x, is_derive (f x) t (d x)) ->
  is_derive (fun s => input_mean (fun x => f x s)) t (input_mean d).
Proof.
  intros H. unfold Risk.input_mean, Rdiv.
  apply (is_derive_ext (fun s => / INR L * below L (fun l => sets (L - 1) (fun r => f (placed C l r) s)))); [intros; apply Rmult_comm|].
  rewrite Rmult_comm. apply is_derive_scal. apply (below_derive L (fun l s => sets (L - 1) (fun r => f (placed C l r) s))).
  intros l _. apply (sets_derive (L - 1) (fun r => f (placed C l r))). intros. apply H.
Qed.

Let D := (L * C)%nat.
Lemma D_positive : 0 < INR D. Proof. apply lt_0_INR. unfold D. nia. Qed.
Lemma exp_at_zero b : is_derive (fun t => exp (t * b)) 0 b.
Proof. auto_derive; [exact Logic.I|]. rewrite Rmult_0_l, exp_0. ring. Qed.
Lemma even_at_zero (b : nat -> R) : below D (fun k => exp (0 * b k)) = INR D.
Proof. rewrite (below_ext _ _ (fun _ => 1)); [rewrite below_const; ring|]. intros. now rewrite Rmult_0_l, exp_0. Qed.
Lemma soft_at_zero b j : soft D (fun k => 0 * b k) j = / INR D.
Proof. unfold soft. rewrite even_at_zero, Rmult_0_l, exp_0. unfold Rdiv. ring. Qed.
Definition centered (b : nat -> R) j := b j - below D b / INR D.
Lemma soft_derive b j : is_derive (fun t => soft D (fun k => t * b k) j) 0 (centered b j / INR D).
Proof.
  assert (P := D_positive). unfold soft.
  replace (centered b j / INR D) with
    ((b j * below D (fun k => exp (0 * b k)) - exp (0 * b j) * below D b) / below D (fun k => exp (0 * b k)) ^ 2).
  - apply (is_derive_div (fun t => exp (t * b j)) (fun t => below D (fun k => exp (t * b k)))).
    + apply exp_at_zero.
    + apply (below_derive D (fun k t => exp (t * b k))). intros. apply exp_at_zero.
    + rewrite even_at_zero. lra.
  - rewrite even_at_zero, Rmult_0_l, exp_0. unfold centered. field. lra.
Qed.
Lemma centered_sum b : below D (centered b) = 0.
Proof.
  assert (P := D_positive). unfold centered.
  rewrite (below_ext _ _ (fun j => b j + -1 * (below D b / INR D))) by (intros; ring).
  rewrite below_plus, below_const. field. lra.
Qed.
Lemma loss_derive y : is_derive loss y (- / (1 + exp y)).
Proof.
  assert (P := exp_pos y). assert (P' := exp_pos (- y)). unfold loss. auto_derive; [lra|].
  rewrite exp_Ropp in *. field. split; [|lra]. lra.
Qed.

Section Slope.
Variables (act act' : R -> R) (alpha : R) (B : nat -> nat -> R).
Hypothesis act_derive : forall z, is_derive act z (act' z).
Definition G (m : Z) := - / (1 + exp (INR D * act (alpha * IZR m))) * act' (alpha * IZR m) * alpha.

Lemma at_zero x i : of_signs C L x ->
  INR D * heard C L (soft D (fun j => 0 * B i j)) (fun j => alpha * sign x j) = alpha * IZR (total x).
Proof.
  intros H. assert (P := D_positive). unfold heard. fold D. rewrite (below_ext _ _ (fun j => (alpha / INR D) * sign x j)).
  - rewrite below_times. unfold D. rewrite total_below by exact H. fold D. field. lra.
  - intros j _. rewrite soft_at_zero. unfold Rdiv. ring.
Qed.
Definition hears t i x := INR D * heard C L (soft D (fun j => t * B i j)) (fun j => alpha * sign x j).
Definition turn i x := alpha * below D (fun j => centered (B i) j * sign x j).
Lemma hears_derive i x : is_derive (fun t => hears t i x) 0 (turn i x).
Proof.
  assert (P := D_positive). unfold hears, turn, heard. fold D.
  replace (alpha * below D (fun j => centered (B i) j * sign x j)) with
    (INR D * below D (fun j => centered (B i) j / INR D * (alpha * sign x j))).
  - apply is_derive_scal. apply (below_derive D (fun j t => soft D (fun k => t * B i k) j * (alpha * sign x j))).
    intros j _. apply (is_derive_ext (fun t => (alpha * sign x j) * soft D (fun k => t * B i k) j)); [intros; apply Rmult_comm|].
    rewrite (Rmult_comm (centered (B i) j / INR D)). apply is_derive_scal. apply soft_derive.
  - rewrite (below_ext _ _ (fun j => (alpha / INR D) * (centered (B i) j * sign x j))) by (intros; field; lra).
    rewrite below_times. field. lra.
Qed.
Lemma yF_derive x : is_derive (fun t => yF_at act alpha B t x) 0 (below D (fun i => turn i x * act' (hears 0 i x))).
Proof.
  unfold yF_at. fold D. apply (below_derive D (fun i t => act (hears t i x))). intros i _.
  apply (is_derive_comp act (fun t => hears t i x)); [apply act_derive | apply hears_derive].
Qed.
Lemma risk_derive x : is_derive (fun t => loss (yF_at act alpha B t x)) 0
  (below D (fun i => turn i x * act' (hears 0 i x)) * - / (1 + exp (yF_at act alpha B 0 x))).
Proof. apply (is_derive_comp loss (fun t => yF_at act alpha B t x)); [apply loss_derive | apply yF_derive]. Qed.
Lemma slope_is x : of_signs C L x ->
  below D (fun i => turn i x * act' (hears 0 i x)) * - / (1 + exp (yF_at act alpha B 0 x)) =
  below D (fun i => below D (fun j => centered (B i) j * (G (total x) * sign x j))).
Proof.
  intros H. assert (E : yF_at act alpha B 0 x = INR D * act (alpha * IZR (total x))).
  { unfold yF_at. fold D. rewrite (below_ext _ _ (fun _ => act (alpha * IZR (total x)))); [apply below_const|].
    intros i _. f_equal. now apply at_zero. }
  rewrite E, Rmult_comm, <- below_times. apply below_ext. intros i _. unfold hears. rewrite at_zero by exact H.
  unfold turn. rewrite (below_ext D (fun j => centered (B i) j * (G (total x) * sign x j)) (fun j => G (total x) * (centered (B i) j * sign x j))) by (intros; ring).
  rewrite below_times. unfold G. ring.
Qed.
End Slope.

Lemma rests : Rests.
Proof.
  intros act act' alpha B A. assert (K := input_derive (fun x t => loss (yF_at act alpha B t x)) _ 0 (risk_derive act act' alpha B A)).
  cbv beta in K. rewrite (input_ext q C L q_range L_positive _ _ (slope_is act act' alpha B)) in K.
  rewrite (input_below q C L q_range L_positive) in K. rewrite (below_ext D _ (fun _ => 0)) in K.
  - rewrite below_const in K. now rewrite Rmult_0_r in K.
  - intros i _. rewrite (input_below q C L q_range L_positive).
    rewrite (below_ext D _ (fun j => one (G act act' alpha) * centered (B i) j)).
    + rewrite below_times, centered_sum. ring.
    + intros j J. rewrite (input_times q C L) by assumption. rewrite (alike (G act act' alpha) j J). ring.
Qed.
End Still.

(** For every size, every q and every activation with a slope; the law is that at y = 1, which is the whole
    risk for an odd activation. *)
Theorem nothing_moves q C L : 0 <= q <= 1 -> (1 <= C)%nat -> (1 <= L)%nat -> Rests q C L.
Proof. exact (rests q C L). Qed.

(** At four patches in two sets, the cube with a linear part, and a change of one score. *)
Example nothing_moves_instance : is_derive (fun t => input_mean (1 / 2) 2 2 (fun x => loss
  (yF_at 2 2 (fun z => z ^ 3 + z) 1 (fun i j => if andb (i =? 0) (j =? 1) then 1 else 0) t x))) 0 0.
Proof.
  apply (nothing_moves (1 / 2) 2 2 ltac:(lra) ltac:(lia) ltac:(lia) (fun z => z ^ 3 + z) (fun z => 3 * z ^ 2 + 1)).
  intros z. auto_derive; [exact Logic.I | ring].
Qed.
