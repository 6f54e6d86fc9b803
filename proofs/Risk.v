(** Block attention, from the definition of the population risk: if a cubic form is nowhere positive, no
    attention and no value vector do better. The claim is [Blocks_are_best]. *)
From Coq Require Import Reals ZArith List Lra Lia.
From Book Require Import Ball Vote Blocks.
Import ListNotations.
Open Scope R_scope.

(** * The definitions *)

(** A mean over X, of the functions that have one: linear, monotone, of 1 it is 1. That of Gaussian noise is one. *)
Record average (X : Type) := Average {
  mean_of :> (X -> R) -> R;
  has : (X -> R) -> Prop;
  has_plus : forall g h, has g -> has h -> has (fun x => g x + h x);
  has_times : forall c g, has g -> has (fun x => c * g x);
  has_one : has (fun _ => 1);
  mean_plus : forall g h, has g -> has h -> mean_of (fun x => g x + h x) = mean_of g + mean_of h;
  mean_times : forall c g, has g -> mean_of (fun x => c * g x) = c * mean_of g;
  mean_le : forall g h, has g -> has h -> (forall x, g x <= h x) -> mean_of g <= mean_of h;
  mean_one : mean_of (fun _ => 1) = 1 }.
Arguments has {X}.

(** The sum of g 0, ..., g (n - 1). *)
Fixpoint below (n : nat) (g : nat -> R) : R := match n with O => 0 | S n => below n g + g n end.
Lemma below_plus n g h : below n (fun i => g i + h i) = below n g + below n h.
Proof. induction n as [|n IH]; cbn [below]; [ring|]. rewrite IH. ring. Qed.
Lemma below_times n c g : below n (fun i => c * g i) = c * below n g.
Proof. induction n as [|n IH]; cbn [below]; [ring|]. rewrite IH. ring. Qed.
Lemma below_le n g h : (forall i, (i < n)%nat -> g i <= h i) -> below n g <= below n h.
Proof. induction n as [|n IH]; intros H; cbn [below]; [lra|]. generalize (IH (fun i K => H i (le_S _ _ K))), (H n ltac:(lia)). lra. Qed.
Lemma below_nonneg n g : (forall i, (i < n)%nat -> 0 <= g i) -> 0 <= below n g.
Proof. induction n as [|n IH]; intros H; cbn [below]; [lra|]. generalize (IH (fun i K => H i (le_S _ _ K))), (H n ltac:(lia)). lra. Qed.
Lemma below_ext n g h : (forall i, (i < n)%nat -> g i = h i) -> below n g = below n h.
Proof. intros H. apply Rle_antisym; apply below_le; intros i K; rewrite (H i K); lra. Qed.
Lemma below_const n c : below n (fun _ => c) = INR n * c.
Proof. induction n as [|n IH]; cbn [below]; [cbn; ring|]. rewrite IH, S_INR. ring. Qed.


Section Input.
Variables (q : R) (C L : nat).

(** The mean over the signs of k random sets, each a list of C signs. *)
Fixpoint sets (k : nat) (g : list (list Z) -> R) : R :=
  match k with O => g [] | S k => words q C (fun l => sets k (fun r => g (l :: r))) end.
(** At y = 1: the signal set, whose signs are all 1, is the l-th of the L sets, each l with chance 1 / L. *)
Definition placed (l : nat) (r : list (list Z)) := firstn l r ++ repeat 1%Z C :: skipn l r.
Definition input_mean (g : list (list Z) -> R) : R := below L (fun l => sets (L - 1) (fun r => g (placed l r))) / INR L.

(** Patch j hears patch j' with the weight S j'; z j' is what patch j' sends. There are L C patches. *)
Definition heard (S z : nat -> R) : R := below (L * C) (fun j => S j * z j).
Definition sign (x : list (list Z)) (j : nat) : R := IZR (nth j (concat x) 0%Z).
(** Model (T) at p = 3, nu = 0: y F for rows of attention, v = alpha w* + v', and noise z of v'. *)
Definition yF (rows : list (nat -> R)) (alpha : R) (x : list (list Z)) (z : nat -> R) : R :=
  fold_right (fun S sum => (INR (L * C) * heard S (fun j => alpha * sign x j + z j)) ^ 3 + sum) 0 rows.
Definition loss (x : R) : R := ln (1 + exp (- x)).
(** Block attention: y F = v P3, P3 the sum of n^3 over the sets, n the sum of the signs of a set. *)
Definition cubes (x : list (list Z)) : Z := fold_right (fun l s => sum l ^ 3 + s)%Z 0%Z x.
Definition risk_of_blocks (v : R) : R := input_mean (fun x => loss (v * IZR (cubes x))).
Definition risk rows alpha (noise : average (nat -> R)) : R :=
  input_mean (fun x => noise (fun z => loss (yF rows alpha x z))).

(** A row of attention; and noise, as that of any Gaussian patch is, symmetric with one variance: along every row. *)
Definition attention (S : nat -> R) := (forall j, 0 <= S j) /\ below (L * C) S = 1.
Definition symmetric (noise : average (nat -> R)) := exists t, forall S,
  (has noise (fun z => heard S z) /\ has noise (fun z => heard S z ^ 2) /\ has noise (fun z => heard S z ^ 3)) /\
  noise (fun z => heard S z) = 0 /\ noise (fun z => heard S z ^ 2) = t ^ 2 * heard S S /\ noise (fun z => heard S z ^ 3) = 0.

(** The cubic form, and the claim. *)
Definition form v (S : nat -> R) : R := input_mean (fun x => slope v (cubes x) * heard S (sign x) ^ 3).
Definition Blocks_are_best v := forall rows alpha noise, Forall attention rows -> symmetric noise ->
  (forall x, has noise (fun z => loss (yF rows alpha x z))) -> risk_of_blocks v <= risk rows alpha noise.

(** * The proof *)

Hypothesis q_range : 0 <= q <= 1.
Hypothesis L_positive : (1 <= L)%nat.

Lemma words_plus n g h : words q n (fun l => g l + h l) = words q n g + words q n h.
Proof.
  revert g h. induction n as [|n IH]; intros g h; cbn [words]; [reflexivity|]. unfold patch. rewrite !IH. ring.
Qed.
Lemma words_times n c g : words q n (fun l => c * g l) = c * words q n g.
Proof. revert g. induction n as [|n IH]; intros g; cbn [words]; [reflexivity|]. unfold patch. rewrite !IH. ring. Qed.
Lemma words_one n : words q n (fun _ => 1) = 1.
Proof. induction n as [|n IH]; cbn [words]; [reflexivity|]. unfold patch. rewrite IH. field. Qed.
(** Means see signs alone. *)
Definition signs_only (l : list Z) := Forall (fun s => s = 0 \/ s = 1 \/ s = -1)%Z l.
Lemma words_le n g h : (forall l, signs_only l -> length l = n -> g l <= h l) -> words q n g <= words q n h.
Proof.
  revert g h. induction n as [|n IH]; intros g h H; cbn [words]; [apply H; [constructor | reflexivity]|]. unfold patch.
  assert (K : forall s, (s = 0 \/ s = 1 \/ s = -1)%Z -> words q n (fun l => g (s :: l)) <= words q n (fun l => h (s :: l))).
  { intros s Hs. apply IH. intros l Hl Hn. apply H; [now constructor | now cbn; rewrite Hn]. }
  generalize (K 0%Z ltac:(auto)), (K 1%Z ltac:(auto)), (K (-1)%Z ltac:(auto)). nra.
Qed.

Lemma sets_plus k g h : sets k (fun r => g r + h r) = sets k g + sets k h.
Proof.
  revert g h. induction k as [|k IH]; intros g h; cbn [sets]; [reflexivity|]. rewrite <- words_plus.
  apply Rle_antisym; apply words_le; intros l _ _; rewrite IH; lra.
Qed.
Lemma sets_times k c g : sets k (fun r => c * g r) = c * sets k g.
Proof.
  revert g. induction k as [|k IH]; intros g; cbn [sets]; [reflexivity|]. rewrite <- words_times.
  apply Rle_antisym; apply words_le; intros l _ _; rewrite IH; lra.
Qed.
Lemma sets_one k : sets k (fun _ => 1) = 1.
Proof.
  induction k as [|k IH]; cbn [sets]; [reflexivity|]. transitivity (words q C (fun _ => 1)); [|apply words_one].
  apply Rle_antisym; apply words_le; intros l _ _; rewrite IH; lra.
Qed.
Definition of_signs (k : nat) (r : list (list Z)) := Forall (fun l => signs_only l /\ length l = C) r /\ length r = k.
Lemma sets_le k g h : (forall r, of_signs k r -> g r <= h r) -> sets k g <= sets k h.
Proof.
  revert g h. induction k as [|k IH]; intros g h H; cbn [sets]; [apply H; split; [constructor | reflexivity]|].
  apply words_le. intros l Hl Hn. apply IH. intros r [Hr Hk]. apply H. split; [now constructor | now cbn; rewrite Hk].
Qed.

Lemma INR_L : 0 < INR L. Proof. apply lt_0_INR. lia. Qed.
Lemma input_le g h : (forall x, of_signs L x -> g x <= h x) -> input_mean g <= input_mean h.
Proof.
  intros H. unfold input_mean, Rdiv. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, INR_L|].
  apply below_le. intros l Hl. apply sets_le. intros r [Hr Hk]. apply H. unfold placed. split.
  - apply Forall_app. rewrite <- (firstn_skipn l r) in Hr. apply Forall_app in Hr. destruct Hr as [H1 H2].
    split; [exact H1|]. constructor; [|exact H2]. split; [|apply repeat_length].
    apply Forall_forall. intros s Hs. apply repeat_spec in Hs. auto.
  - rewrite app_length, firstn_length. cbn [length]. rewrite skipn_length. lia.
Qed.
Lemma input_ext g h : (forall x, of_signs L x -> g x = h x) -> input_mean g = input_mean h.
Proof. intros H. apply Rle_antisym; apply input_le; intros x Hx; rewrite (H x Hx); lra. Qed.
Lemma input_plus g h : input_mean (fun x => g x + h x) = input_mean g + input_mean h.
Proof.
  unfold input_mean. rewrite <- Rdiv_plus_distr, <- below_plus. f_equal. apply below_ext. intros l _. apply sets_plus.
Qed.
Lemma input_times c g : input_mean (fun x => c * g x) = c * input_mean g.
Proof.
  unfold input_mean, Rdiv. rewrite <- Rmult_assoc, <- below_times. f_equal. apply below_ext. intros l _. apply sets_times.
Qed.
Lemma input_one : input_mean (fun _ => 1) = 1.
Proof.
  unfold input_mean. rewrite (below_ext _ _ (fun _ => 1)); [|intros; apply sets_one]. rewrite below_const.
  field. generalize INR_L. lra.
Qed.
Lemma input_below n (g : nat -> list (list Z) -> R) : input_mean (fun x => below n (fun j => g j x)) = below n (fun j => input_mean (g j)).
Proof.
  induction n as [|n IH]; cbn [below]; [|now rewrite input_plus, IH].
  generalize (input_times 0 (fun _ => 1)). rewrite (Rmult_0_l (input_mean _)). intros E.
  etransitivity; [|exact E]. apply input_ext. intros. ring.
Qed.

(** The loss is convex: above each of its tangents. *)
Lemma loss_tangent x y : loss y - / (1 + exp y) * (x - y) <= loss x.
Proof.
  set (w := / (1 + exp y)). assert (P : 0 < exp y) by apply exp_pos.
  assert (W : w * (1 + exp (- y)) = exp (- y)) by (unfold w; rewrite exp_Ropp; field; lra).
  assert (w0 : 0 < w) by (apply Rinv_0_lt_compat; lra).
  assert (w1 : w < 1) by (unfold w; rewrite <- Rinv_1; apply Rinv_lt_contravar; lra).
  assert (key : exp (w * (y - x)) <= 1 - w + w * exp (y - x)).
  { set (m := w * (y - x)). assert (A := exp_ineq1_le (y - x - m)). assert (B := exp_ineq1_le (- m)).
    assert (A' : exp m * (1 + (y - x - m)) <= exp (y - x)).
    { replace (exp (y - x)) with (exp m * exp (y - x - m)) by (rewrite <- exp_plus; f_equal; ring).
      apply Rmult_le_compat_l; [left; apply exp_pos | exact A]. }
    assert (B' : exp m * (1 - m) <= 1).
    { replace 1 with (exp m * exp (- m)) at 2 by (rewrite <- exp_plus; replace (m + - m) with 0 by ring; apply exp_0).
      apply Rmult_le_compat_l; [left; apply exp_pos | exact B]. }
    replace (exp m) with (w * (exp m * (1 + (y - x - m))) + (1 - w) * (exp m * (1 - m))) by (unfold m; ring).
    nra. }
  unfold loss.
  replace (1 + exp (- x)) with ((1 + exp (- y)) * (1 - w + w * exp (y - x))).
  - rewrite ln_mult.
    + assert (Lk : w * (y - x) <= ln (1 - w + w * exp (y - x))).
      { rewrite <- (ln_exp (w * (y - x))). destruct key as [k | k].
        - left. apply ln_increasing; [apply exp_pos | exact k].
        - right. now rewrite k. }
      lra.
    + generalize (exp_pos (- y)). lra.
    + generalize (exp_pos (y - x)). nra.
  - assert (X : exp (y - x) * exp (- y) = exp (- x)) by (rewrite <- exp_plus; f_equal; ring).
    symmetry. transitivity ((1 + exp (- y)) - w * (1 + exp (- y)) + w * (1 + exp (- y)) * exp (y - x)); [|ring].
    rewrite W, <- X. ring.
Qed.

(** Random sets may be turned. *)
Definition turned : list (list Z) -> list (list Z) := map (map Z.opp).
Lemma words_turned n g : words q n g = words q n (fun l => g (map Z.opp l)).
Proof.
  revert g. induction n as [|n IH]; intros g; cbn [words]; [reflexivity|].
  rewrite patch_turned. apply patch_ext. intros s. apply IH.
Qed.
Lemma sets_turned k g : sets k g = sets k (fun r => g (turned r)).
Proof.
  revert g. induction k as [|k IH]; intros g; cbn [sets]; [reflexivity|].
  rewrite words_turned. apply Rle_antisym; apply words_le; intros l _ _; rewrite (IH (fun r => g (map Z.opp l :: r))); apply Rle_refl.
Qed.
Lemma heard_plus S z z' : heard S (fun j => z j + z' j) = heard S z + heard S z'.
Proof. unfold heard. rewrite <- below_plus. apply below_ext. intros. cbv beta. ring. Qed.
Lemma heard_times S c z : heard S (fun j => c * z j) = c * heard S z.
Proof. unfold heard. rewrite <- below_times. apply below_ext. intros. cbv beta. ring. Qed.
Lemma ones c i : (i < c)%nat -> nth i (repeat 1%Z c) 0%Z = 1%Z.
Proof. revert i. induction c as [|c IH]; intros i K; [lia|]. destruct i; [reflexivity|]. cbn. apply IH. lia. Qed.
(** A patch of a random set, and the same turned, cancel; one of the signal set counts twice. *)
Lemma sign_pair l r j : 0 <= sign (placed l r) j + sign (placed l (turned r)) j.
Proof.
  unfold sign, placed. rewrite <- plus_IZR. apply IZR_le.
  unfold turned. rewrite firstn_map, skipn_map. set (a := firstn l r). set (b := skipn l r). clearbody a b.
  rewrite !concat_app. cbn [concat].
  assert (T : forall x : list (list Z), concat (map (map Z.opp) x) = map Z.opp (concat x)).
  { intros x. symmetry. apply concat_map. }
  assert (Nth : forall (x : list Z) i, nth i (map Z.opp x) 0%Z = (- nth i x 0)%Z).
  { intros x i. change 0%Z with (Z.opp 0) at 1. apply map_nth. }
  rewrite !T. set (A := concat a). set (B := concat b).
  destruct (Nat.lt_ge_cases j (length A)) as [H | H].
  - rewrite !app_nth1 by (rewrite ?map_length; exact H). rewrite Nth. lia.
  - rewrite !(app_nth2 A), (app_nth2 (map _ A)) by (rewrite ?map_length; exact H). rewrite map_length.
    set (i := (j - length A)%nat). destruct (Nat.lt_ge_cases i C) as [K | K].
    + rewrite !app_nth1 by (rewrite repeat_length; exact K). rewrite ones by exact K. lia.
    + rewrite !app_nth2 by (rewrite repeat_length; exact K). rewrite repeat_length, Nth. lia.
Qed.
Lemma sets_nonneg k g : (forall r, 0 <= g r) -> 0 <= sets k g.
Proof.
  intros H. apply Rle_trans with (sets k (fun _ => 0 * 1)); [rewrite sets_times, sets_one; lra|].
  apply sets_le. intros r _. generalize (H r). lra.
Qed.
Lemma heard_pair S l r : (forall j, 0 <= S j) -> 0 <= heard S (sign (placed l r)) + heard S (sign (placed l (turned r))).
Proof.
  intros P. rewrite <- heard_plus. apply below_nonneg. intros j _. apply Rmult_le_pos; [apply P | apply sign_pair].
Qed.
Lemma input_cube S : (forall j, 0 <= S j) -> 0 <= input_mean (fun x => heard S (sign x) ^ 3).
Proof.
  intros P. unfold input_mean. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat, INR_L].
  apply below_nonneg. intros l _.
  assert (T := sets_turned (L - 1) (fun r => heard S (sign (placed l r)) ^ 3)).
  assert (H : 0 <= sets (L - 1) (fun r => heard S (sign (placed l r)) ^ 3 + heard S (sign (placed l (turned r))) ^ 3)).
  { apply sets_nonneg. intros r. assert (K := heard_pair S l r P).
    revert K. generalize (heard S (sign (placed l r))) (heard S (sign (placed l (turned r)))). intros a b K.
    replace (a ^ 3 + b ^ 3) with ((a + b) * ((a - b / 2) ^ 2 + 3 / 4 * b ^ 2)) by field.
    apply Rmult_le_pos; [exact K|]. generalize (pow2_ge_0 (a - b / 2)), (pow2_ge_0 b). lra. }
  rewrite sets_plus, <- T in H. lra.
Qed.
Lemma input_heard S : (forall j, 0 <= S j) -> 0 <= input_mean (fun x => heard S (sign x)).
Proof.
  intros P. unfold input_mean. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat, INR_L].
  apply below_nonneg. intros l _.
  assert (T := sets_turned (L - 1) (fun r => heard S (sign (placed l r)))).
  assert (H : 0 <= sets (L - 1) (fun r => heard S (sign (placed l r)) + heard S (sign (placed l (turned r))))).
  { apply sets_nonneg. intros r. apply heard_pair, P. }
  rewrite sets_plus, <- T in H. lra.
Qed.

(** Means over the noise. *)
Section Noise.
Variables (v : R) (noise : average (nat -> R)) (t : R).
Hypothesis best : input_mean (fun x => IZR (cubes x) * slope v (cubes x)) = 0.
Hypothesis nowhere : forall S, attention S -> form v S <= 0.
Hypothesis moments : forall S,
  (has noise (fun z => heard S z) /\ has noise (fun z => heard S z ^ 2) /\ has noise (fun z => heard S z ^ 3)) /\
  noise (fun z => heard S z) = 0 /\ noise (fun z => heard S z ^ 2) = t ^ 2 * heard S S /\ noise (fun z => heard S z ^ 3) = 0.

Lemma noise_ext g h : (forall z, g z = h z) -> noise g = noise h.
Proof. intros H. f_equal. now apply FunctionalExtensionality.functional_extensionality. Qed.
Lemma has_ext g h : (forall z, g z = h z) -> has noise g -> has noise h.
Proof. intros H. now replace h with g by now apply FunctionalExtensionality.functional_extensionality. Qed.
Lemma has_const c : has noise (fun _ => c).
Proof. apply (has_ext (fun _ => c * 1)); [intros; ring | apply has_times, has_one]. Qed.
Lemma noise_const c : noise (fun _ => c) = c.
Proof.
  transitivity (noise (fun _ => c * 1)); [apply noise_ext; intros; ring|].
  rewrite (mean_times _ noise c (fun _ => 1)), mean_one; [ring | apply has_one].
Qed.
Lemma row_mean S alpha x : noise (fun z => heard S (fun j => alpha * sign x j + z j) ^ 3)
  = alpha ^ 3 * heard S (sign x) ^ 3 + 3 * alpha * t ^ 2 * heard S S * heard S (sign x).
Proof.
  destruct (moments S) as [[h1 [h2 h3]] [m1 [m2 m3]]]. set (h := heard S (sign x)).
  transitivity (noise (fun z => alpha ^ 3 * h ^ 3 + ((3 * alpha ^ 2 * h ^ 2) * heard S z + ((3 * alpha * h) * heard S z ^ 2 + heard S z ^ 3)))).
  - apply noise_ext. intros z. rewrite heard_plus, heard_times. fold h. ring.
  - assert (k3 : has noise (fun z => (3 * alpha * h) * heard S z ^ 2 + heard S z ^ 3)) by (apply has_plus; [apply has_times, h2 | exact h3]).
    assert (k2 : has noise (fun z => (3 * alpha ^ 2 * h ^ 2) * heard S z)) by apply has_times, h1.
    rewrite (mean_plus _ noise (fun _ => alpha ^ 3 * h ^ 3) _ (has_const _) (has_plus _ _ _ _ k2 k3)).
    rewrite (mean_plus _ noise _ _ k2 k3), (mean_plus _ noise _ _ (has_times _ _ _ _ h2) h3).
    rewrite (mean_times _ noise _ _ h1), (mean_times _ noise _ _ h2), noise_const. change (noise (heard S)) with (noise (fun z => heard S z)).
    rewrite m1, m2, m3. ring.
Qed.

Lemma has_row S alpha x : has noise (fun z => heard S (fun j => alpha * sign x j + z j) ^ 3).
Proof.
  destruct (moments S) as [[h1 [h2 h3]] _]. set (h := heard S (sign x)).
  apply (has_ext (fun z => alpha ^ 3 * h ^ 3 + ((3 * alpha ^ 2 * h ^ 2) * heard S z + ((3 * alpha * h) * heard S z ^ 2 + heard S z ^ 3)))).
  - intros z. rewrite heard_plus, heard_times. fold h. ring.
  - repeat apply has_plus; try apply has_times; try apply has_const; assumption.
Qed.
Lemma has_yF rows alpha x : has noise (fun z => yF rows alpha x z).
Proof.
  induction rows as [|S rows IH]; [exact (has_const 0)|].
  apply (has_ext (fun z => INR (L * C) ^ 3 * heard S (fun j => alpha * sign x j + z j) ^ 3 + yF rows alpha x z)).
  - intros z. unfold yF. cbn [fold_right]. ring.
  - apply has_plus; [apply has_times, has_row | exact IH].
Qed.

(** What a patch sends is heard with a slope that is never positive at the best v: its cube is itself. *)
Lemma vertex j : (j < L * C)%nat -> input_mean (fun x => slope v (cubes x) * sign x j) <= 0.
Proof.
  intros J. set (e := fun i => if (i =? j)%nat then 1 else 0).
  assert (E : forall z n, below n (fun i => e i * z i) = if (j <? n)%nat then z j else 0).
  { intros z. induction n as [|n IH]; [reflexivity|]. cbn [below]. rewrite IH. unfold e.
    destruct (Nat.ltb_spec j n), (Nat.ltb_spec j (S n)), (Nat.eqb_spec n j); try lia; subst; ring. }
  assert (H : forall z, heard e z = z j) by (intros z; unfold heard; rewrite E; destruct (Nat.ltb_spec j (L * C)); [reflexivity | lia]).
  assert (A : attention e).
  { split; [intros i; unfold e; destruct (i =? j)%nat; lra|].
    transitivity (heard e (fun _ => 1)); [|apply H]. apply below_ext. intros. ring. }
  apply Rle_trans with (form v e); [right | now apply nowhere].
  apply input_ext. intros x [Hx _]. rewrite H. f_equal. unfold sign.
  assert (T : (nth j (concat x) 0 = 0 \/ nth j (concat x) 0 = 1 \/ nth j (concat x) 0 = -1)%Z).
  { assert (F : signs_only (concat x)).
    { apply Forall_concat. eapply Forall_impl; [|exact Hx]. now intros l [Hl _]. }
    destruct (Nat.lt_ge_cases j (length (concat x))) as [K | K]; [|left; now apply nth_overflow].
    unfold signs_only in F. rewrite Forall_forall in F. apply F. now apply nth_In. }
  destruct T as [-> | [-> | ->]]; simpl; ring.
Qed.
Lemma heard_sum g S : input_mean (fun x => g x * heard S (sign x)) = below (L * C) (fun j => S j * input_mean (fun x => g x * sign x j)).
Proof.
  transitivity (input_mean (fun x => below (L * C) (fun j => S j * (g x * sign x j)))).
  - apply input_ext. intros x _. unfold heard. rewrite <- below_times. apply below_ext. intros. ring.
  - rewrite (input_below (L * C) (fun j x => S j * (g x * sign x j))). apply below_ext. intros j _. apply input_times.
Qed.

(** The mean of w y F over inputs and noise: for alpha > 0 not positive at the best slope w. *)
Lemma square_nonneg S : 0 <= heard S S.
Proof. apply below_nonneg. intros j _. nra. Qed.
Definition row_sum (w : list (list Z) -> R) S alpha := input_mean (fun x => w x * noise (fun z => heard S (fun j => alpha * sign x j + z j) ^ 3)).
Lemma row_sum_is w S alpha : row_sum w S alpha =
  alpha ^ 3 * input_mean (fun x => w x * heard S (sign x) ^ 3) + 3 * alpha * t ^ 2 * heard S S * input_mean (fun x => w x * heard S (sign x)).
Proof.
  unfold row_sum. rewrite <- !input_times, <- input_plus. apply input_ext. intros x _. rewrite row_mean. ring.
Qed.
Lemma row_at_best S alpha : 0 < alpha -> attention S -> row_sum (fun x => slope v (cubes x)) S alpha <= 0.
Proof.
  intros a A. rewrite row_sum_is. assert (F := nowhere S A). fold (form v S).
  assert (P := square_nonneg S). rewrite heard_sum.
  assert (N : below (L * C) (fun j => S j * input_mean (fun x => slope v (cubes x) * sign x j)) <= 0).
  { replace 0 with (below (L * C) (fun _ => 0)) by (rewrite below_const; ring). apply below_le. intros j J.
    generalize (vertex j J), (proj1 A j). nra. }
  assert (a3 : 0 < alpha ^ 3) by now apply pow_lt.
  assert (K : 0 <= 3 * alpha * t ^ 2 * heard S S).
  { apply Rmult_le_pos; [|exact P]. generalize (pow2_ge_0 t). nra. }
  nra.
Qed.
Lemma row_from_start S alpha : alpha <= 0 -> attention S -> row_sum (fun _ => 1) S alpha <= 0.
Proof.
  intros a [P _]. rewrite row_sum_is.
  assert (X : 0 <= input_mean (fun x => 1 * heard S (sign x) ^ 3)).
  { rewrite input_times. generalize (input_cube S P). lra. }
  assert (Y : 0 <= input_mean (fun x => 1 * heard S (sign x))).
  { rewrite input_times. generalize (input_heard S P). lra. }
  assert (Q := square_nonneg S). assert (T := pow2_ge_0 t).
  assert (a3 : alpha ^ 3 <= 0) by (replace (alpha ^ 3) with (alpha * alpha ^ 2) by ring; generalize (pow2_ge_0 alpha); nra).
  assert (K : 3 * alpha * t ^ 2 * heard S S <= 0).
  { replace (3 * alpha * t ^ 2 * heard S S) with (alpha * (3 * t ^ 2 * heard S S)) by ring.
    assert (0 <= 3 * t ^ 2 * heard S S) by (apply Rmult_le_pos; [lra | exact Q]). nra. }
  nra.
Qed.
Lemma rows_sum w rows alpha (good : (nat -> R) -> Prop) : (forall S, good S -> row_sum w S alpha <= 0) -> Forall good rows ->
  input_mean (fun x => w x * noise (fun z => yF rows alpha x z)) <= 0.
Proof.
  intros G H. induction H as [|S rows gS _ IH].
  - right. transitivity (input_mean (fun x => 0 * 1)); [|rewrite input_times; ring].
    apply input_ext. intros x _. unfold yF. cbn [fold_right]. rewrite noise_const. ring.
  - apply Rle_trans with (INR (L * C) ^ 3 * row_sum w S alpha + input_mean (fun x => w x * noise (fun z => yF rows alpha x z))).
    + right. unfold row_sum. rewrite <- input_times, <- input_plus. apply input_ext. intros x _.
      rewrite <- Rmult_assoc, (Rmult_comm _ (w x)), Rmult_assoc, <- Rmult_plus_distr_l. f_equal.
      rewrite <- mean_times, <- mean_plus by (apply has_row || apply has_times, has_row || apply has_yF). apply noise_ext. intros z. unfold yF. cbn [fold_right]. ring.
    + generalize (G S gS), (pow_le (INR (L * C)) 3 (pos_INR _)). nra.
Qed.

(** Below the risk lies what a tangent of the loss says, whatever the input's point y of contact. *)
Lemma by_tangents (y : list (list Z) -> R) rows alpha : (forall x, has noise (fun z => loss (yF rows alpha x z))) ->
  input_mean (fun x => / (1 + exp (y x)) * noise (fun z => yF rows alpha x z)) <= 0 ->
  input_mean (fun x => loss (y x) + / (1 + exp (y x)) * y x) <= risk rows alpha noise.
Proof.
  intros I H. unfold risk. apply Rle_trans with
    (input_mean (fun x => (loss (y x) + / (1 + exp (y x)) * y x) + (- 1) * (/ (1 + exp (y x)) * noise (fun z => yF rows alpha x z)))).
  - rewrite (input_plus (fun x => loss (y x) + / (1 + exp (y x)) * y x)), (input_times (- 1)). lra.
  - apply input_le. intros x _. set (w := / (1 + exp (y x))).
    apply Rle_trans with (noise (fun z => (loss (y x) + w * y x) + (- w) * yF rows alpha x z)).
    + rewrite (mean_plus _ noise (fun _ => _)), (mean_times _ noise (- w)), noise_const by (apply has_yF || apply has_const || apply has_times, has_yF).
      change (noise (yF rows alpha x)) with (noise (fun z => yF rows alpha x z)). lra.
    + apply mean_le; [apply has_plus; [apply has_const | apply has_times, has_yF] | apply I |]. intros z. generalize (loss_tangent (yF rows alpha x z) (y x)). fold w. lra.
Qed.
End Noise.

Lemma blocks_are_best v : input_mean (fun x => IZR (cubes x) * slope v (cubes x)) = 0 ->
  (forall S, attention S -> form v S <= 0) -> Blocks_are_best v.
Proof.
  intros best nowhere rows alpha noise R [t moments] I.
  assert (zero : input_mean (fun x => v * (IZR (cubes x) * slope v (cubes x))) = 0) by (rewrite input_times, best; ring).
  assert (mine : risk_of_blocks v = input_mean (fun x => loss (v * IZR (cubes x)) + / (1 + exp (v * IZR (cubes x))) * (v * IZR (cubes x)))).
  { rewrite (input_plus (fun x => loss (v * IZR (cubes x)))). unfold risk_of_blocks.
    rewrite <- (Rplus_0_r (input_mean (fun x => loss _))) at 1. f_equal. symmetry. etransitivity; [|exact zero].
    apply input_ext. intros x _. unfold slope. ring. }
  destruct (Rlt_le_dec 0 alpha) as [a | a].
  - rewrite mine. apply (by_tangents noise t moments); [exact I|].
    apply (rows_sum noise t moments (fun x => slope v (cubes x)) rows alpha attention); [|exact R].
    intros S A. now apply (row_at_best v noise t).
  - apply Rle_trans with (input_mean (fun x => loss 0 + / (1 + exp 0) * 0)).
    + unfold risk_of_blocks. apply Rle_trans with
        (input_mean (fun x => loss 0 + (- 1) * (v * (IZR (cubes x) * slope v (cubes x))))).
      * apply input_le. intros x _. generalize (loss_tangent 0 (v * IZR (cubes x))). unfold slope.
        set (w := / _). intros T. replace (- 1 * (v * (IZR (cubes x) * w))) with (w * (0 - v * IZR (cubes x))) by ring. lra.
      * rewrite (input_plus (fun _ => loss 0)), (input_times (- 1)), zero. right.
        rewrite Rmult_0_r, Rplus_0_r. apply input_ext. intros. ring.
    + apply (by_tangents noise t moments (fun _ => 0)); [exact I|].
      apply (Rle_trans _ (/ (1 + exp 0) * input_mean (fun x => 1 * noise (fun z => yF rows alpha x z)))).
      * right. rewrite <- input_times. apply input_ext. intros. ring.
      * assert (P : 0 < / (1 + exp 0)) by (apply Rinv_0_lt_compat; generalize (exp_pos 0); lra).
        assert (N := rows_sum noise t moments (fun _ => 1) rows alpha attention (fun S => row_from_start noise t moments S alpha a) R).
        cbv beta in N. nra.
Qed.
End Input.
