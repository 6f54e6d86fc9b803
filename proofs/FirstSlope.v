(** The first move as a slope of the risk: a diagonal beta, no other score, and the speeds of a companion's and of a
    stranger's score. What [Companions_win] of Vote.v says is the sign of their difference. *)
(** In the book: ours-certified-first-slope. *)
From Coq Require Import Reals ZArith List Bool Lra Lia.
From Coquelicot Require Import Coquelicot.
From Book Require Import Ball Vote Blocks Risk Form Still.
Import ListNotations.
Open Scope R_scope.

(** * The claim *)

Section Claim.
Variables (q : R) (C L : nat) (act : R -> R) (alpha : R).
(** y F at any scores A; [soft] is the softmax of a row, [act] the activation, v = alpha w*. *)
Definition yF_of (A : nat -> nat -> R) (x : list (list Z)) : R :=
  below (L * C) (fun r => act (INR (L * C) * heard C L (soft (L * C) (A r)) (fun k => alpha * sign x k))).
Definition risk_of (A : nat -> nat -> R) : R := input_mean q C L (fun x => loss (yF_of A x)).
(** beta on the diagonal, t as the score of patch i for patch j, and no other. *)
Definition scores (beta : R) (i j : nat) (t : R) (r k : nat) : R :=
  (if (k =? r)%nat then beta else 0) + (if andb (r =? i)%nat (k =? j)%nat then t else 0).
(** At rate one the score of i for j moves at the speed v. *)
Definition Speed (beta : R) (i j : nat) (v : R) := is_derive (fun t => risk_of (scores beta i j t)) 0 (- v).
(** j is a companion of i, and k is a stranger. *)
Definition Kinds (i j k : nat) := (i < L * C)%nat /\ (j < L * C)%nat /\ (k < L * C)%nat /\ i <> j /\ (j / C = i / C)%nat /\ (k / C <> i / C)%nat.
End Claim.

(** The mean of g (M) (1 - s_a) (1 - s_b) over the vote M, a and b two of the n = D - C random patches. *)
Definition turned_mean (q : R) (n : nat) (C : Z) (g : Z -> R) : R :=
  patch q (fun a => patch q (fun b => IZR (1 - a) * IZR (1 - b) * patches q (n - 2) g (C + a + b))).

(** The power p = 2 h + 1, nu = 0, and the slope of the risk by alpha at equal scores. *)
Definition power (h : nat) (z : R) := z ^ (2 * h + 1).
Definition Slope_by_alpha q C L h alpha s := is_derive (fun a => risk_of q C L (power h) a (fun _ _ => 0)) alpha s.
(** Wherever the risk does not rise with alpha, every small enough diagonal moves a companion faster than a stranger; or, from
    some alpha on at which the risk still falls, it moves the stranger faster. *)
Definition Wins q C L h := forall alpha, 0 < alpha -> (forall s, Slope_by_alpha q C L h alpha s -> s <= 0) -> forall i j k, Kinds C L i j k ->
  exists eps, 0 < eps /\ forall beta, 0 < beta < eps -> forall v v', Speed q C L (power h) alpha beta i j v -> Speed q C L (power h) alpha beta i k v' -> v' < v.
Definition Loses q C L h := exists alpha, 0 < alpha /\ (forall s, Slope_by_alpha q C L h alpha s -> s < 0) /\ forall a, alpha <= a -> forall i j k, Kinds C L i j k ->
  exists eps, 0 < eps /\ forall beta, 0 < beta < eps -> forall v v', Speed q C L (power h) a beta i j v -> Speed q C L (power h) a beta i k v' -> v < v'.

Section Move.
Variables (q : R) (C L : nat).
Hypothesis q_range : 0 <= q <= 1.
Hypothesis C_two : (2 <= C)%nat.
Hypothesis L_two : (2 <= L)%nat.
Let C_positive : (1 <= C)%nat. Proof. lia. Qed.
Let L_positive : (1 <= L)%nat. Proof. lia. Qed.
Notation words := (words q).
Notation input_mean := (input_mean q C L).
Let n := ((L - 1) * C)%nat.
Let n_two : (2 <= n)%nat. Proof. unfold n. nia. Qed.

(** * Two signs at once *)

Lemma two_signs m a b G : (a < m)%nat -> (b < m)%nat -> a <> b ->
  words m (fun y => IZR (nth a y 0%Z) * (IZR (nth b y 0%Z) * G (sum y))) = e11 q (m - 2) G.
Proof.
  revert a b G. induction m as [|m IH]; intros a b G A B N; [lia|].
  assert (Z0 : forall b G, (0 < b)%nat -> (b < S m)%nat -> words (S m) (fun y => IZR (nth 0 y 0%Z) * (IZR (nth b y 0%Z) * G (sum y))) = e11 q (S m - 2) G).
  { clear - IH C_positive L_positive. intros b G B0 B1. destruct b as [|b]; [lia|]. cbn [Blocks.words]. rewrite <- times1. apply patch_ext. intros s.
    replace (S m - 2)%nat with (m - 1)%nat by lia. rewrite <- (one_sign q C L C_positive L_positive m b) by lia. rewrite <- words_times. apply words_ext. intros l. reflexivity. }
  destruct a as [|a]; [apply Z0; lia|]. destruct b as [|b].
  - rewrite <- (Z0 (S a) G) by lia. apply words_ext. intros l. ring.
  - cbn [Blocks.words]. replace (S m - 2)%nat with (S (m - 2)) by lia. rewrite <- more11. apply patch_ext. intros s. rewrite <- (IH a b) by lia. apply words_ext. intros l. reflexivity.
Qed.

Definition outside_both g := e11 q (n - 2) (shift (Z.of_nat C) g).
Lemma two_places g l i j : (l < L)%nat -> (i < L * C)%nat -> (j < L * C)%nat -> i <> j ->
  sets q C (L - 1) (fun r => g (total (placed C l r)) * (sign (placed C l r) i * sign (placed C l r) j)) =
  if inside C l i then (if inside C l j then heard_in_set q C L g else heard_outside q C L g) else (if inside C l j then heard_outside q C L g else outside_both g).
Proof.
  intros Hl Hi Hj N. assert (One := fun k Hk => one_place q C L q_range C_positive L_positive g l k Hl Hk).
  assert (Sg := fun r k Hk => placed_sign q C L q_range C_positive L_positive l r k Hl Hk).
  destruct (inside C l i) eqn:Ei.
  - rewrite <- (One j Hj). apply sets_ext_signs; [exact q_range|]. intros r Hr. rewrite (Sg r i Hi Hr), Ei. ring.
  - destruct (inside C l j) eqn:Ej.
    + specialize (One i Hi). rewrite Ei in One. rewrite <- One. apply sets_ext_signs; [exact q_range|]. intros r Hr. rewrite (Sg r j Hj Hr), Ej. ring.
    + set (a := if (i <? l * C)%nat then i else (i - C)%nat). set (b := if (j <? l * C)%nat then j else (j - C)%nat).
      assert (S : (L * C = n + C)%nat) by (unfold n; replace L with (S (L - 1)) at 1 by lia; cbn [Nat.mul]; lia).
      assert (Ln : (l * C <= n)%nat) by (unfold n; apply Nat.mul_le_mono_r; lia).
      assert (R0 : (a < n /\ b < n /\ a <> b)%nat).
      { unfold a, b. unfold inside in Ei, Ej. apply andb_false_iff in Ei, Ej. rewrite Nat.leb_nle, Nat.ltb_nlt in Ei, Ej.
        destruct (Nat.ltb_spec i (l * C)); destruct (Nat.ltb_spec j (l * C)); lia. }
      set (F := fun y => g (Z.of_nat C + sum y)%Z * (IZR (nth a y 0%Z) * IZR (nth b y 0%Z))).
      rewrite (sets_ext_signs q C q_range (L - 1) _ (fun r => F (concat r))).
      * rewrite (sets_flat q C (L - 1) F). fold n. unfold outside_both. rewrite <- (two_signs n a b) by tauto. apply words_ext. intros y. unfold F, shift. ring.
      * intros r Hr. unfold F. rewrite (placed_sum C L C_positive L_positive), (Sg r i Hi Hr), (Sg r j Hj Hr), Ei, Ej. reflexivity.
Qed.
Lemma inside_is l j : (l < L)%nat -> (j < L * C)%nat -> inside C l j = (l =? j / C)%nat.
Proof.
  intros Hl Hj. assert (D := Nat.div_mod j C ltac:(lia)). assert (M := Nat.mod_upper_bound j C ltac:(lia)).
  unfold inside. apply Bool.eq_iff_eq_true. rewrite andb_true_iff, Nat.leb_le, Nat.ltb_lt, Nat.eqb_eq.
  split; [|intros ->; nia]. intros [H1 H2]. apply (Nat.div_unique j C l (j - C * l)); nia.
Qed.
Lemma set_of j : (j < L * C)%nat -> (j / C < L)%nat. Proof. intros H. apply Nat.div_lt_upper_bound; lia. Qed.

Definition corner g := heard_in_set q C L g - 2 * heard_outside q C L g + outside_both g.
(** Companions agree more than strangers, at every vote. *)
Lemma agree g i j k : Kinds C L i j k ->
  input_mean (fun x => g (total x) * (sign x i * sign x j)) - input_mean (fun x => g (total x) * (sign x i * sign x k)) = corner g / INR L.
Proof.
  intros [Hi [Hj [Hk [N [Sj Sk]]]]]. assert (Lp : 0 < INR L) by (apply lt_0_INR; lia).
  set (a := heard_in_set q C L g). set (b := heard_outside q C L g). set (c := outside_both g).
  assert (X : input_mean (fun x => g (total x) * (sign x i * sign x j)) = (a + (INR L - 1) * c) / INR L).
  { unfold Risk.input_mean. f_equal. rewrite <- (pick C L C_positive L_positive L (i / C) a c) by now apply set_of. apply below_ext. intros l Hl.
    rewrite two_places by assumption. rewrite !inside_is, Sj by assumption. destruct (l =? i / C)%nat; reflexivity. }
  assert (Y : input_mean (fun x => g (total x) * (sign x i * sign x k)) = (2 * b + (INR L - 2) * c) / INR L).
  { unfold Risk.input_mean. f_equal. transitivity (below L (fun l => (if (l =? i / C)%nat then b - c else 0) + ((if (l =? k / C)%nat then b - c else 0) + c))).
    - apply below_ext. intros l Hl. rewrite two_places by (assumption || (intros E; apply Sk; now rewrite E)). rewrite !inside_is by assumption.
      fold a b c. destruct (Nat.eqb_spec l (i / C)) as [E1 | E1]; destruct (Nat.eqb_spec l (k / C)) as [E2 | E2]; try ring. exfalso. apply Sk. now rewrite <- E1, <- E2.
    - rewrite !below_plus, !(pick C L C_positive L_positive), below_const by now apply set_of. ring. }
  rewrite X, Y. unfold corner. fold a b c. field. lra.
Qed.
Lemma words_patches m g c : words m (fun y => g (c + sum y)%Z) = patches q m g c.
Proof.
  revert c. induction m as [|m IH]; intros c; cbn [Blocks.words patches]; [f_equal; unfold sum; cbn; ring|]. apply patch_ext. intros s. rewrite <- IH.
  apply words_ext. intros l. f_equal. unfold sum. cbn [fold_right]. ring.
Qed.
Lemma corner_is g : corner g = turned_mean q n (Z.of_nat C) g.
Proof.
  set (V := fun a b => patches q (n - 2) g (Z.of_nat C + a + b)).
  assert (W : forall F, words n F = patch q (fun a => patch q (fun b => words (n - 2) (fun l => F (a :: b :: l))))) by (intros F; replace n with (S (S (n - 2))) at 1 by lia; reflexivity).
  assert (A : heard_in_set q C L g = patch q (fun a => patch q (fun b => V a b))).
  { unfold heard_in_set. fold n. rewrite W. apply patch_ext. intros a. apply patch_ext. intros b. unfold V. rewrite <- words_patches. apply words_ext. intros l. f_equal. unfold sum. cbn [fold_right]. ring. }
  assert (B : forall i, (i < 2)%nat -> heard_outside q C L g = patch q (fun a => patch q (fun b => IZR (nth i [a; b] 0%Z) * V a b))).
  { intros i I. unfold heard_outside. fold n. rewrite <- (one_sign q C L C_positive L_positive n i) by lia. rewrite W. apply patch_ext. intros a. apply patch_ext. intros b.
    unfold V. rewrite <- words_patches, <- words_times. apply words_ext. intros l. unfold shift. destruct i as [|[|i]]; [| |lia]; cbn [nth]; f_equal; f_equal; unfold sum; cbn [fold_right]; ring. }
  assert (D : outside_both g = patch q (fun a => patch q (fun b => IZR a * (IZR b * V a b)))).
  { unfold outside_both. rewrite <- (two_signs n 0 1) by lia. rewrite W. apply patch_ext. intros a. apply patch_ext. intros b.
    unfold V. rewrite <- words_patches, <- !words_times. apply words_ext. intros l. unfold shift. cbn [nth]. do 3 f_equal. unfold sum. cbn [fold_right]. ring. }
  unfold corner. replace (2 * heard_outside q C L g) with (heard_outside q C L g + heard_outside q C L g) by ring.
  rewrite (B 0%nat) at 1 by lia. rewrite (B 1%nat) by lia. rewrite A, D. unfold turned_mean. fold (V). cbn [nth]. unfold patch. fold (V 0%Z 0%Z) (V 0%Z 1%Z) (V 0%Z (-1)%Z) (V 1%Z 0%Z) (V 1%Z 1%Z) (V 1%Z (-1)%Z) (V (-1)%Z 0%Z) (V (-1)%Z 1%Z) (V (-1)%Z (-1)%Z).
  rewrite !minus_IZR. ring.
Qed.

(** * What a patch hears *)

Let D := INR (L * C).
Let D_four : 4 <= D. Proof. unfold D. replace 4 with (INR 4) by (simpl; ring). apply le_INR. nia. Qed.
Lemma single m i c f : (i < m)%nat -> below m (fun k => (if (k =? i)%nat then c else 0) * f k) = c * f i.
Proof.
  intros H. rewrite <- (Rplus_0_r (c * f i)), <- (Rmult_0_r (INR m - 1)), <- (pick C L C_positive L_positive m i (c * f i) 0 H). apply below_ext. intros k _.
  destruct (Nat.eqb_spec k i) as [-> | N]; ring.
Qed.
Lemma heard_raised A x i j a b : (i < L * C)%nat -> (j < L * C)%nat ->
  (forall k, exp (A k) = 1 + ((if (k =? i)%nat then a else 0) + (if (k =? j)%nat then b else 0))) -> forall al,
  heard C L (soft (L * C) A) (fun k => al * sign x k) = al * (below (L * C) (sign x) + (a * sign x i + b * sign x j)) / (D + (a + b)).
Proof.
  intros Hi Hj He al. unfold heard, soft. set (Z0 := below (L * C) (fun k => exp (A k))).
  assert (Ez : Z0 = D + (a + b)).
  { unfold Z0. rewrite (below_ext _ _ (fun k => 1 + ((if (k =? i)%nat then a else 0) * (fun _ => 1) k + (if (k =? j)%nat then b else 0) * (fun _ => 1) k))) by (intros; rewrite He; ring).
    rewrite below_plus, below_plus, below_const, !single by assumption. unfold D. ring. }
  rewrite (below_ext _ _ (fun k => (al / Z0) * (sign x k + ((if (k =? i)%nat then a else 0) * sign x k + (if (k =? j)%nat then b else 0) * sign x k)))).
  - rewrite below_times, below_plus, below_plus, !single by assumption. rewrite Ez. unfold Rdiv. ring.
  - intros k _. rewrite He. unfold Rdiv. ring.
Qed.
Variables (act act' act'' : R -> R) (alpha : R).
Hypothesis act_derive : forall z, is_derive act z (act' z).
Hypothesis act'_derive : forall z, is_derive act' z (act'' z).

(** The input of the activation at row i, and its slope by t; M the vote, s and u the signs of i and j. *)
Definition hears M s u beta t := D * (alpha * (M + ((exp beta - 1) * s + (exp t - 1) * u)) / (D + ((exp beta - 1) + (exp t - 1)))).
Definition turns M s u beta := D * alpha * (u / (D + (exp beta - 1)) - (M + (exp beta - 1) * s) / (D + (exp beta - 1)) ^ 2).
Lemma bottom beta : 0 < D + (exp beta - 1). Proof. generalize (exp_pos beta). lra. Qed.
Lemma hears_slope M s u beta : is_derive (hears M s u beta) 0 (turns M s u beta).
Proof.
  assert (B := bottom beta). unfold hears, turns. auto_derive; [rewrite exp_0; lra|]. rewrite exp_0. field. lra.
Qed.
Definition level M beta (x : list (list Z)) := below (L * C) (fun r => act (hears M (sign x r) 0 beta 0)).
Lemma yF_is beta i j t x : (i < L * C)%nat -> (j < L * C)%nat -> i <> j -> let M := below (L * C) (sign x) in
  yF_of C L act alpha (scores beta i j t) x = below (L * C) (fun r => act (if (r =? i)%nat then hears M (sign x i) (sign x j) beta t else hears M (sign x r) 0 beta 0)).
Proof.
  intros Hi Hj N M. unfold yF_of. apply below_ext. intros r Hr. f_equal. fold D. destruct (Nat.eqb_spec r i) as [-> | Nr].
  - unfold hears. f_equal. rewrite (heard_raised (scores beta i j t i) x i j (exp beta - 1) (exp t - 1) Hi Hj); [reflexivity|].
    intros k. unfold scores. rewrite Nat.eqb_refl. cbn [andb]. destruct (Nat.eqb_spec k i) as [K1 | K1]; destruct (Nat.eqb_spec k j) as [K2 | K2]; rewrite ?Rplus_0_r, ?Rplus_0_l, ?exp_0; try ring. exfalso. congruence.
  - unfold hears. f_equal. rewrite (heard_raised (scores beta i j t r) x r r (exp beta - 1) 0 Hr Hr).
    + rewrite exp_0. fold M. f_equal; [f_equal; ring | ring].
    + intros k. unfold scores. destruct (Nat.eqb_spec r i) as [E | _]; [now exfalso|]. cbn [andb]. destruct (Nat.eqb_spec k r) as [-> | K1]; rewrite ?Rplus_0_r, ?exp_0; ring.
Qed.
Definition speed beta i j := input_mean (fun x => let M := below (L * C) (sign x) in
  / (1 + exp (level M beta x)) * (act' (hears M (sign x i) 0 beta 0) * turns M (sign x i) (sign x j) beta)).
Lemma hears_rest M s u beta : hears M s u beta 0 = hears M s 0 beta 0.
Proof. unfold hears. rewrite exp_0. replace ((1 - 1) * u) with ((1 - 1) * 0) by ring. reflexivity. Qed.
Lemma speed_right beta i j : (i < L * C)%nat -> (j < L * C)%nat -> i <> j -> Speed q C L act alpha beta i j (speed beta i j).
Proof.
  intros Hi Hj N. unfold Speed, risk_of.
  set (d := fun x => let M := below (L * C) (sign x) in - (/ (1 + exp (level M beta x)) * (act' (hears M (sign x i) 0 beta 0) * turns M (sign x i) (sign x j) beta))).
  replace (- speed beta i j) with (input_mean d).
  - apply (input_derive q C L C_positive L_positive (fun x t => loss (yF_of C L act alpha (scores beta i j t) x)) d). intros x. set (M := below (L * C) (sign x)).
    assert (Y0 : yF_of C L act alpha (scores beta i j 0) x = level M beta x).
    { rewrite yF_is by assumption. fold M. apply below_ext. intros r _. f_equal. destruct (Nat.eqb_spec r i) as [-> | Nr]; [apply hears_rest | reflexivity]. }
    assert (Y : is_derive (fun t => yF_of C L act alpha (scores beta i j t) x) 0 (turns M (sign x i) (sign x j) beta * act' (hears M (sign x i) 0 beta 0))).
    { apply (is_derive_ext (fun t => below (L * C) (fun r => act (if (r =? i)%nat then hears M (sign x i) (sign x j) beta t else hears M (sign x r) 0 beta 0)))); [intros t; symmetry; now apply yF_is|].
      replace (turns M (sign x i) (sign x j) beta * act' (hears M (sign x i) 0 beta 0)) with
        (below (L * C) (fun r => (if (r =? i)%nat then turns M (sign x i) (sign x j) beta * act' (hears M (sign x i) 0 beta 0) else 0) * (fun _ => 1) r)) by (rewrite single by exact Hi; ring).
      apply (below_derive C L C_positive L_positive (L * C) (fun r t => act (if (r =? i)%nat then hears M (sign x i) (sign x j) beta t else hears M (sign x r) 0 beta 0))).
      intros r _. destruct (r =? i)%nat.
      - rewrite Rmult_1_r, <- (hears_rest M (sign x i) (sign x j)). apply (is_derive_comp act (hears M (sign x i) (sign x j) beta)); [apply act_derive | apply hears_slope].
      - rewrite Rmult_1_r. apply (is_derive_const (V := R_NormedModule)). }
    assert (Z0 := is_derive_comp loss _ 0 _ _ (loss_derive _) Y). cbv beta in Z0. rewrite Y0 in Z0. unfold d. fold M. cbv zeta.
    replace (- (/ (1 + exp (level M beta x)) * (act' (hears M (sign x i) 0 beta 0) * turns M (sign x i) (sign x j) beta))) with
      (scal (turns M (sign x i) (sign x j) beta * act' (hears M (sign x i) 0 beta 0)) (- / (1 + exp (level M beta x)))); [exact Z0|].
    unfold scal; simpl; unfold mult; simpl. ring.
  - transitivity (-1 * speed beta i j); [|ring]. unfold speed. rewrite <- (input_times q C L q_range). apply (input_ext q C L q_range L_positive). intros x _. unfold d. cbv zeta. ring.
Qed.

(** * The slope of the speeds by the diagonal *)

Definition bends M s u := act'' (alpha * M) * (alpha * (s - M / D)) * (alpha * (u - M / D)) + act' (alpha * M) * (alpha / D * (2 * M / D - s - u)).
Lemma level_rest x : let M := below (L * C) (sign x) in is_derive (fun beta => level M beta x) 0 0.
Proof.
  intros M. replace 0 with (below (L * C) (fun r => alpha * (sign x r - M / D) * act' (alpha * M))) at 2.
  - apply (below_derive C L C_positive L_positive (L * C) (fun r beta => act (hears M (sign x r) 0 beta 0))). intros r _.
    replace (act' (alpha * M)) with (act' (hears M (sign x r) 0 0 0)) by (f_equal; unfold hears; rewrite exp_0; field; lra).
    apply (is_derive_comp act (fun beta => hears M (sign x r) 0 beta 0)); [apply act_derive|]. unfold hears. auto_derive; [rewrite exp_0; lra|]. rewrite exp_0. field. lra.
  - rewrite (below_ext _ _ (fun r => (alpha * act' (alpha * M)) * (sign x r + -1 * (M / D)))) by (intros; ring). rewrite below_times, below_plus, below_const. fold D. fold M. field. lra.
Qed.
Lemma speed_bends i j : is_derive (fun beta => speed beta i j) 0 (input_mean (fun x => let M := below (L * C) (sign x) in
  / (1 + exp (D * act (alpha * M))) * bends M (sign x i) (sign x j))).
Proof.
  apply (input_derive q C L C_positive L_positive (fun x beta => let M := below (L * C) (sign x) in
    / (1 + exp (level M beta x)) * (act' (hears M (sign x i) 0 beta 0) * turns M (sign x i) (sign x j) beta))). intros x. cbv zeta. set (M := below (L * C) (sign x)).
  set (s := sign x i). set (u := sign x j). assert (Lv := level_rest x). cbv zeta in Lv. fold M in Lv.
  assert (L0 : level M 0 x = D * act (alpha * M)).
  { unfold level. rewrite (below_ext _ _ (fun _ => act (alpha * M))); [apply below_const|]. intros r _. f_equal. unfold hears. rewrite exp_0. field. lra. }
  assert (W : is_derive (fun beta => / (1 + exp (level M beta x))) 0 0).
  { assert (Ep := exp_pos (level M 0 x)). replace 0 with (- (0 * exp (level M 0 x)) / (1 + exp (level M 0 x)) ^ 2) at 2 by (field; lra).
    apply (is_derive_inv (fun beta => 1 + exp (level M beta x))); [|lra]. rewrite <- (Rplus_0_l (0 * _)).
    apply (is_derive_plus (fun _ => 1)); [apply (is_derive_const (V := R_NormedModule))|]. apply (is_derive_comp exp (fun beta => level M beta x)); [apply is_derive_exp | exact Lv]. }
  assert (H : is_derive (fun beta => act' (hears M s 0 beta 0)) 0 (alpha * (s - M / D) * act'' (alpha * M))).
  { replace (act'' (alpha * M)) with (act'' (hears M s 0 0 0)) by (f_equal; unfold hears; rewrite exp_0; field; lra).
    apply (is_derive_comp act' (fun beta => hears M s 0 beta 0)); [apply act'_derive|]. unfold hears. auto_derive; [rewrite exp_0; lra|]. rewrite exp_0. field. lra. }
  assert (T : is_derive (turns M s u) 0 (alpha / D * (2 * M / D - s - u))).
  { unfold turns. auto_derive; [rewrite exp_0; repeat split; nra|]. rewrite exp_0. field. lra. }
  assert (T0 : turns M s u 0 = alpha * (u - M / D)) by (unfold turns; rewrite exp_0; field; lra).
  assert (H0 : hears M s 0 0 0 = alpha * M) by (unfold hears; rewrite exp_0; field; lra).
  assert (P := is_derive_mult _ _ 0 _ _ H T Rmult_comm). assert (Q := is_derive_mult _ _ 0 _ _ W P Rmult_comm). cbv beta in Q. rewrite L0, H0, T0 in Q.
  replace (/ (1 + exp (D * act (alpha * M))) * bends M s u) with (Hierarchy.plus (mult 0 (mult (act' (alpha * M)) (alpha * (u - M / D)))) (mult (/ (1 + exp (D * act (alpha * M))))
    (Hierarchy.plus (mult (alpha * (s - M / D) * act'' (alpha * M)) (alpha * (u - M / D))) (mult (act' (alpha * M)) (alpha / D * (2 * M / D - s - u)))))); [exact Q|].
  unfold Hierarchy.plus, mult; simpl. unfold bends. ring.
Qed.

Definition weighed (m : Z) := / (1 + exp (D * act (alpha * IZR m))) * act'' (alpha * IZR m).
Lemma gap_slope i j k : Kinds C L i j k ->
  is_derive (fun beta => speed beta i j - speed beta i k) 0 (alpha ^ 2 / INR L * turned_mean q n (Z.of_nat C) weighed).
Proof.
  intros Kd. assert (Kd' := Kd). destruct Kd' as [Hi [Hj [Hk _]]].
  set (g1 := fun m => / (1 + exp (D * act (alpha * IZR m))) * act' (alpha * IZR m)). set (g2 := fun m => weighed m * IZR m).
  set (B := fun k => input_mean (fun x => let M := below (L * C) (sign x) in / (1 + exp (D * act (alpha * M))) * bends M (sign x i) (sign x k))).
  assert (X : forall k, (k < L * C)%nat -> B k =
    alpha ^ 2 * input_mean (fun x => weighed (total x) * (sign x i * sign x k)) + (- (alpha ^ 2 / D)) * input_mean (fun x => g2 (total x) * sign x k) + (- (alpha / D)) * input_mean (fun x => g1 (total x) * sign x k)
    + input_mean (fun x => (- (alpha ^ 2 / D)) * (g2 (total x) * sign x i) + (alpha ^ 2 / D ^ 2 * (weighed (total x) * IZR (total x) ^ 2) + alpha / D * (2 * / D * (g1 (total x) * IZR (total x)) + -1 * (g1 (total x) * sign x i))))).
  { clear k Kd Hk. intros k Hk. unfold B. rewrite <- !(input_times q C L q_range), <- !(input_plus q C L q_range). apply (input_ext q C L q_range L_positive). intros x Hx. cbv zeta.
    rewrite (total_below C L x Hx). unfold bends, g1, g2, weighed. assert (Ep := exp_pos (D * act (alpha * IZR (total x)))). field. repeat split; lra. }
  assert (S0 := is_derive_minus _ _ 0 _ _ (speed_bends i j) (speed_bends i k)). cbv beta in S0.
  replace (alpha ^ 2 / INR L * turned_mean q n (Z.of_nat C) weighed) with (minus (B j) (B k)); [exact S0|].
  change (B j + - B k = alpha ^ 2 / INR L * turned_mean q n (Z.of_nat C) weighed). rewrite (X j Hj), (X k Hk). rewrite (patches_alike q C L q_range C_positive L_positive g1 j k Hj Hk), (patches_alike q C L q_range C_positive L_positive g2 j k Hj Hk).
  assert (A := agree weighed i j k Kd). rewrite corner_is in A.
  replace (alpha ^ 2 / INR L * turned_mean q n (Z.of_nat C) weighed) with (alpha ^ 2 * (turned_mean q n (Z.of_nat C) weighed / INR L)) by (unfold Rdiv; ring). rewrite <- A. ring.
Qed.
End Move.

Lemma vote_mean q C L g : 0 <= q <= 1 -> (1 <= C)%nat -> (1 <= L)%nat -> input_mean q C L (fun x => g (total x)) = patches q ((L - 1) * C) g (Z.of_nat C).
Proof.
  intros Q C1 L1. assert (Lp : 0 < INR L) by (apply lt_0_INR; lia). unfold input_mean.
  rewrite (below_ext L _ (fun _ => patches q ((L - 1) * C) g (Z.of_nat C))); [rewrite below_const; field; lra|]. intros l Hl.
  rewrite <- words_patches, <- (sets_flat q C (L - 1) (fun y => g (Z.of_nat C + sum y)%Z)). apply sets_ext_signs; [exact Q|]. intros r _. now rewrite (placed_sum C L C1 L1).
Qed.
Lemma patches_linear q n c g h m : (forall m, g m = c * h m) -> patches q n g m = c * patches q n h m.
Proof.
  intros H. revert m. induction n as [|n IH]; intros m; cbn [patches]; [apply H|]. unfold patch. rewrite !IH. ring.
Qed.
Lemma turned_linear q n C c g h : (forall m, g m = c * h m) -> turned_mean q n C g = c * turned_mean q n C h.
Proof. intros H. unfold turned_mean, patch. rewrite !(patches_linear q (n - 2) c g h _ H). ring. Qed.
Lemma speed_unique q C L act alpha beta i j v v' : Speed q C L act alpha beta i j v -> Speed q C L act alpha beta i j v' -> v = v'.
Proof. intros A B. apply is_derive_unique in A, B. rewrite A in B. lra. Qed.
Lemma rest q C L act act' alpha i j : 0 <= q <= 1 -> (1 <= C)%nat -> (1 <= L)%nat -> (forall z, is_derive act z (act' z)) -> Speed q C L act alpha 0 i j 0.
Proof.
  intros Q C1 L1 A. unfold Speed. rewrite Ropp_0. set (B := fun r k => if andb (r =? i)%nat (k =? j)%nat then 1 else 0).
  apply (is_derive_ext (fun t => input_mean q C L (fun x => loss (yF_at C L act alpha B t x)))); [|exact (nothing_moves q C L Q C1 L1 act act' alpha B A)].
  intros t. unfold risk_of. f_equal. apply FunctionalExtensionality.functional_extensionality. intros x. f_equal. unfold yF_at, yF_of. apply below_ext. intros r _. f_equal. f_equal.
  unfold heard. apply below_ext. intros k _. f_equal. unfold soft.
  assert (E : forall k, exp (t * B r k) = exp (scores 0 i j t r k)) by (intros k'; f_equal; unfold B, scores; destruct (k' =? r)%nat; destruct (andb _ _); ring).
  rewrite E. f_equal. apply below_ext. intros k' _. apply E.
Qed.

(** * The statements *)

(** For every activation with two slopes: both speeds vanish at equal scores, and their difference has this slope. *)
Theorem first_slope q C L act act' act'' alpha i j k : 0 <= q <= 1 -> (2 <= C)%nat -> (2 <= L)%nat ->
  (forall z, is_derive act z (act' z)) -> (forall z, is_derive act' z (act'' z)) -> Kinds C L i j k ->
  exists gamma rho : R -> R, (forall beta, Speed q C L act alpha beta i j (gamma beta)) /\ (forall beta, Speed q C L act alpha beta i k (rho beta)) /\
  gamma 0 = 0 /\ rho 0 = 0 /\
  is_derive (fun beta => gamma beta - rho beta) 0 (alpha ^ 2 / INR L *
    turned_mean q ((L - 1) * C) (Z.of_nat C) (fun m => / (1 + exp (INR (L * C) * act (alpha * IZR m))) * act'' (alpha * IZR m))).
Proof.
  intros Q C2 L2 A A' Kd. assert (Kd' := Kd). destruct Kd' as [Hi [Hj [Hk [N [Sj Sk]]]]].
  exists (fun beta => speed q C L act act' alpha beta i j), (fun beta => speed q C L act act' alpha beta i k).
  assert (G : forall beta, Speed q C L act alpha beta i j (speed q C L act act' alpha beta i j)) by (intros; now apply speed_right).
  assert (H : forall beta, Speed q C L act alpha beta i k (speed q C L act act' alpha beta i k)) by (intros; apply speed_right; try assumption; intros E; apply Sk; now rewrite E).
  split; [exact G|]. split; [exact H|]. split; [|split].
  - exact (speed_unique _ _ _ _ _ _ _ _ _ _ (G 0) (rest q C L act act' alpha i j Q ltac:(lia) ltac:(lia) A)).
  - exact (speed_unique _ _ _ _ _ _ _ _ _ _ (H 0) (rest q C L act act' alpha i k Q ltac:(lia) ltac:(lia) A)).
  - exact (gap_slope q C L Q C2 L2 act act' act'' alpha A A' i j k Kd).
Qed.
Example first_slope_instance : exists gamma rho : R -> R, (forall beta, Speed (/ 2) 2 2 (fun z => z ^ 3 + z) 1 beta 0 1 (gamma beta)) /\
  (forall beta, Speed (/ 2) 2 2 (fun z => z ^ 3 + z) 1 beta 0 2 (rho beta)).
Proof.
  destruct (first_slope (/ 2) 2 2 (fun z => z ^ 3 + z) (fun z => 3 * z ^ 2 + 1) (fun z => 6 * z) 1 0 1 2) as [g [r [G [H _]]]]; try lra; try lia.
  - intros z. auto_derive; [exact Logic.I | ring].
  - intros z. auto_derive; [exact Logic.I | ring].
  - unfold Kinds. cbn. lia.
  - now exists g, r.
Qed.

(** The power p = 2 h + 1: the slope of the risk by alpha at equal scores is f of Vote.v, and the other one is Delta. *)
Lemma power_slope h z : is_derive (power h) z (INR (2 * h + 1) * z ^ (2 * h)).
Proof.
  replace (INR (2 * h + 1) * z ^ (2 * h)) with (INR (2 * h + 1) * 1 * z ^ pred (2 * h + 1)) by (replace (pred (2 * h + 1)) with (2 * h)%nat by lia; ring).
  apply (is_derive_pow (fun z => z) (2 * h + 1) z 1). apply (is_derive_id (K := R_AbsRing)).
Qed.
Lemma power_bend h z : (1 <= h)%nat -> is_derive (fun z => INR (2 * h + 1) * z ^ (2 * h)) z (INR (2 * h + 1) * INR (2 * h) * z ^ (2 * h - 1)).
Proof.
  intros H. replace (INR (2 * h + 1) * INR (2 * h) * z ^ (2 * h - 1)) with (INR (2 * h + 1) * (INR (2 * h) * 1 * z ^ pred (2 * h))) by (replace (pred (2 * h)) with (2 * h - 1)%nat by lia; ring).
  apply is_derive_scal. apply (is_derive_pow (fun z => z) (2 * h) z 1). apply (is_derive_id (K := R_AbsRing)).
Qed.
Lemma w_is h C L alpha m : w (Z.of_nat h) (INR (L * C) * alpha ^ (2 * h + 1)) m = / (1 + exp (INR (L * C) * power h (alpha * IZR m))).
Proof. unfold w, power. replace (2 * Z.of_nat h + 1)%Z with (Z.of_nat (2 * h + 1)) by lia. rewrite <- pow_IZR, Rpow_mult_distr. do 3 f_equal. ring. Qed.
Theorem slope_by_alpha q C L h alpha : 0 <= q <= 1 -> (2 <= C)%nat -> (2 <= L)%nat ->
  Slope_by_alpha q C L h alpha (- (INR (2 * h + 1) * INR (L * C) * alpha ^ (2 * h)) * f (Z.of_nat h) q ((L - 1) * C) (Z.of_nat C) (INR (L * C) * alpha ^ (2 * h + 1))).
Proof.
  intros Q C2 L2. assert (D0 : 0 < INR (L * C)) by (apply lt_0_INR; nia). unfold Slope_by_alpha.
  set (F := fun x a => loss (INR (L * C) * power h (a * below (L * C) (sign x)))).
  assert (E0 : forall a x, loss (yF_of C L (power h) a (fun _ _ => 0) x) = F x a).
  { intros a x. unfold F. f_equal. unfold yF_of. rewrite (below_ext _ _ (fun _ => power h (a * below (L * C) (sign x)))); [apply below_const|]. intros r Hr. f_equal.
    rewrite (heard_raised C L C2 L2 (fun _ => 0) x 0 0 0 0 ltac:(nia) ltac:(nia)); [field; lra|]. intros k. rewrite exp_0. destruct (k =? 0)%nat; ring. }
  apply (is_derive_ext (fun a => input_mean q C L (fun x => F x a))).
  { intros a. unfold risk_of. f_equal. apply FunctionalExtensionality.functional_extensionality. intros x. symmetry. apply E0. }
  set (d := fun x => let M := below (L * C) (sign x) in - / (1 + exp (INR (L * C) * power h (alpha * M))) * (INR (L * C) * (INR (2 * h + 1) * (alpha * M) ^ (2 * h) * M))).
  replace (- (INR (2 * h + 1) * INR (L * C) * alpha ^ (2 * h)) * f (Z.of_nat h) q ((L - 1) * C) (Z.of_nat C) (INR (L * C) * alpha ^ (2 * h + 1))) with (input_mean q C L d).
  - apply (input_derive q C L ltac:(lia) ltac:(lia) F d). intros x. unfold F, d. set (M := below (L * C) (sign x)).
    assert (P : is_derive (fun a => INR (L * C) * power h (a * M)) alpha (INR (L * C) * (INR (2 * h + 1) * (alpha * M) ^ (2 * h) * M))).
    { apply is_derive_scal. rewrite (Rmult_comm (INR (2 * h + 1) * (alpha * M) ^ (2 * h))). apply (is_derive_comp (power h) (fun a => a * M)); [apply power_slope|]. auto_derive; [exact Logic.I | ring]. }
    assert (Z0 := is_derive_comp loss _ alpha _ _ (loss_derive _) P). cbv beta in Z0. cbv zeta.
    replace (- / (1 + exp (INR (L * C) * power h (alpha * M))) * (INR (L * C) * (INR (2 * h + 1) * (alpha * M) ^ (2 * h) * M))) with
      (scal (INR (L * C) * (INR (2 * h + 1) * (alpha * M) ^ (2 * h) * M)) (- / (1 + exp (INR (L * C) * power h (alpha * M))))); [exact Z0|]. unfold scal; simpl; unfold mult; simpl. ring.
  - unfold f. rewrite <- (patches_linear q ((L - 1) * C) _ (fun m => (- (INR (2 * h + 1) * INR (L * C) * alpha ^ (2 * h))) * (w (Z.of_nat h) (INR (L * C) * alpha ^ (2 * h + 1)) m * IZR (m ^ (2 * Z.of_nat h + 1)))) _ _ (fun m => eq_refl)).
    rewrite <- (vote_mean q C L _ Q ltac:(lia) ltac:(lia)). apply (input_ext q C L Q ltac:(lia)). intros x Hx. unfold d. cbv zeta. rewrite (total_below C L x Hx), w_is.
    replace (2 * Z.of_nat h + 1)%Z with (Z.of_nat (2 * h + 1)) by lia. rewrite <- pow_IZR, Rpow_mult_distr, (Nat.add_1_r (2 * h)). change (IZR (total x) ^ S (2 * h)) with (IZR (total x) * IZR (total x) ^ (2 * h)). ring.
Qed.
Example slope_by_alpha_instance : exists s, Slope_by_alpha (/ 2) 2 3 1 1 s.
Proof. eexists. apply slope_by_alpha; try lra; lia. Qed.

Lemma grows F d : is_derive F 0 d -> F 0 = 0 -> 0 < d -> exists eps, 0 < eps /\ forall b, 0 < b < eps -> 0 < F b.
Proof.
  intros H Z0 P. apply is_derive_Reals in H. destruct (H d P) as [e He]. exists e. split; [apply cond_pos|]. intros b B.
  specialize (He b ltac:(lra) ltac:(rewrite Rabs_pos_eq; lra)). rewrite Rplus_0_l, Z0, Rminus_0_r in He. apply Rabs_def2 in He. destruct He as [_ He].
  assert (G : 0 < F b / b) by lra. replace (F b) with (F b / b * b) by (field; lra). apply Rmult_lt_0_compat; lra.
Qed.
Lemma moves q C L h alpha i j k : 0 <= q <= 1 -> (2 <= C)%nat -> (2 <= L)%nat -> (1 <= h)%nat -> Kinds C L i j k ->
  exists gamma rho : R -> R, (forall beta, Speed q C L (power h) alpha beta i j (gamma beta)) /\ (forall beta, Speed q C L (power h) alpha beta i k (rho beta)) /\
  gamma 0 = 0 /\ rho 0 = 0 /\ is_derive (fun beta => gamma beta - rho beta) 0
    (INR (2 * h + 1) * INR (2 * h) * alpha ^ (2 * h + 1) / INR L * Delta (Z.of_nat h) q ((L - 1) * C) (Z.of_nat C) (INR (L * C) * alpha ^ (2 * h + 1))).
Proof.
  intros Q C2 L2 H1 Kd. destruct (first_slope q C L (power h) (fun z => INR (2 * h + 1) * z ^ (2 * h)) (fun z => INR (2 * h + 1) * INR (2 * h) * z ^ (2 * h - 1)) alpha i j k Q C2 L2 (power_slope h) (fun z => power_bend h z H1) Kd)
    as [g [r [G [H [G0 [H0 S0]]]]]]. exists g, r. split; [exact G|]. split; [exact H|]. split; [exact G0|]. split; [exact H0|].
  replace (INR (2 * h + 1) * INR (2 * h) * alpha ^ (2 * h + 1) / INR L * Delta (Z.of_nat h) q ((L - 1) * C) (Z.of_nat C) (INR (L * C) * alpha ^ (2 * h + 1))) with
    (alpha ^ 2 / INR L * turned_mean q ((L - 1) * C) (Z.of_nat C) (fun m => / (1 + exp (INR (L * C) * power h (alpha * IZR m))) * (INR (2 * h + 1) * INR (2 * h) * (alpha * IZR m) ^ (2 * h - 1)))); [exact S0|].
  rewrite (turned_linear q ((L - 1) * C) (Z.of_nat C) (INR (2 * h + 1) * INR (2 * h) * alpha ^ (2 * h - 1)) _ (fun m => w (Z.of_nat h) (INR (L * C) * alpha ^ (2 * h + 1)) m * IZR (m ^ (2 * Z.of_nat h - 1)))).
  - change (turned_mean q ((L - 1) * C) (Z.of_nat C) (fun m => w (Z.of_nat h) (INR (L * C) * alpha ^ (2 * h + 1)) m * IZR (m ^ (2 * Z.of_nat h - 1)))) with (Delta (Z.of_nat h) q ((L - 1) * C) (Z.of_nat C) (INR (L * C) * alpha ^ (2 * h + 1))).
    set (y := Delta _ _ _ _ _). clearbody y. assert (E : alpha ^ (2 * h + 1) = alpha ^ 2 * alpha ^ (2 * h - 1)) by (rewrite <- pow_add; f_equal; lia). rewrite E. unfold Rdiv. ring.
  - intros m. rewrite w_is. replace (2 * Z.of_nat h - 1)%Z with (Z.of_nat (2 * h - 1)) by lia. rewrite <- pow_IZR, Rpow_mult_distr. ring.
Qed.

(** f is positive at u = 0, and continuous: a loss has a positive witness. *)
Lemma patch_lt q g h : 0 <= q <= 1 -> (forall s, g s < h s) -> patch q g < patch q h.
Proof. intros Q H. unfold patch. generalize (H 0%Z), (H 1%Z), (H (-1)%Z). intros. destruct (Req_dec q 0) as [-> | N]; [lra|]. assert (0 < q) by lra. destruct (Req_dec q 1) as [-> | M]; [lra | nra]. Qed.
Lemma patches_lt q n g h m : 0 <= q <= 1 -> (forall m, g m < h m) -> patches q n g m < patches q n h m.
Proof. intros Q H. revert m. induction n as [|n IH]; intros m; cbn [patches]; [apply H | apply patch_lt; [exact Q | intros; apply IH]]. Qed.
Lemma odd_sum h x y : 0 < x + y -> 0 < x ^ (2 * h + 1) + y ^ (2 * h + 1).
Proof.
  assert (K : forall a b, b <= 0 -> 0 < a + b -> 0 < a ^ (2 * h + 1) + b ^ (2 * h + 1)).
  { intros a b B S0. assert (E : b ^ (2 * h + 1) = - (- b) ^ (2 * h + 1)) by (rewrite !pow_add, !pow_1, !(pow_mult _ 2); replace ((- b) ^ 2) with (b ^ 2) by ring; ring). rewrite E.
    assert (X : forall n, (- b) ^ S n < a ^ S n) by (induction n as [|n IH]; [lra|]; change (- b * (- b) ^ S n < a * a ^ S n); assert (0 <= (- b) ^ S n) by (apply pow_le; lra); nra).
    specialize (X (2 * h)%nat). rewrite (Nat.add_1_r (2 * h)). lra. }
  intros S0. destruct (Rle_lt_dec y 0) as [Y | Y]; [now apply K|]. destruct (Rle_lt_dec x 0) as [X | X]; [rewrite Rplus_comm; apply K; lra|].
  generalize (pow_lt x (2 * h + 1) X), (pow_lt y (2 * h + 1) Y). lra.
Qed.
Lemma f_start q n C h : 0 <= q <= 1 -> (0 < C)%Z -> 0 < f (Z.of_nat h) q n C 0.
Proof.
  intros Q C0. unfold f. set (g := fun m => w (Z.of_nat h) 0 m * IZR (m ^ (2 * Z.of_nat h + 1))).
  assert (half : forall m, g m = / 2 * IZR m ^ (2 * h + 1)).
  { intros m. unfold g, w. rewrite Rmult_0_l, exp_0. replace (2 * Z.of_nat h + 1)%Z with (Z.of_nat (2 * h + 1)) by lia. rewrite <- pow_IZR. now replace (1 + 1) with 2 by ring. }
  assert (E0 : patches q n g C = patches q n (fun x => g (2 * C - x)%Z) C) by (generalize (patches_turned q n g C 0); now rewrite Z.add_0_r, Z.sub_0_r).
  assert (S0 : patches q n (fun _ => 0) C < patches q n (fun x => g x + g (2 * C - x)%Z) C).
  { apply patches_lt; [exact Q|]. intros x. rewrite !half, <- Rmult_plus_distr_l. apply Rmult_lt_0_compat; [lra|]. apply odd_sum. rewrite <- plus_IZR. apply IZR_lt. lia. }
  rewrite (patches_linear q n 0 (fun _ => 0) (fun _ => 0)) in S0 by (intros; ring). rewrite patches_plus, <- E0 in S0. lra.
Qed.
Lemma patches_continuous q n (g : R -> Z -> R) u m : (forall m, continuous (fun u => g u m) u) -> continuous (fun u => patches q n (g u) m) u.
Proof.
  intros H. revert m. induction n as [|n IH]; intros m; cbn [patches]; [apply H|]. unfold patch.
  apply (continuous_plus (V := R_NormedModule) (fun u => (1 - q) * patches q n (g u) (m + 0) + q / 2 * patches q n (g u) (m + 1)) (fun u => q / 2 * patches q n (g u) (m + -1))).
  - apply (continuous_plus (V := R_NormedModule) (fun u => (1 - q) * patches q n (g u) (m + 0)) (fun u => q / 2 * patches q n (g u) (m + 1))); apply (continuous_scal_r (V := R_NormedModule)); apply IH.
  - apply (continuous_scal_r (V := R_NormedModule)). apply IH.
Qed.
Lemma loss_witness q n C h : 0 <= q <= 1 -> (0 < C)%Z -> Companions_lose (Z.of_nat h) q n C ->
  exists u, 0 < u /\ 0 < f (Z.of_nat h) q n C u /\ forall v, u <= v -> Delta (Z.of_nat h) q n C v < 0.
Proof.
  intros Q C0 [v [F0 Dn]]. destruct (Rlt_le_dec 0 v) as [V | V]; [now exists v|].
  assert (K : continuous (fun u => f (Z.of_nat h) q n C u) 0).
  { unfold f. apply (patches_continuous q n (fun u m => w (Z.of_nat h) u m * IZR (m ^ (2 * Z.of_nat h + 1)))). intros m. apply (ex_derive_continuous (fun u => w (Z.of_nat h) u m * IZR (m ^ (2 * Z.of_nat h + 1)))).
    unfold w. set (c := IZR (m ^ (2 * Z.of_nat h + 1))). clearbody c. assert (Ep := exp_pos (0 * c)). auto_derive. lra. }
  assert (P := f_start q n C h Q C0). apply continuity_pt_filterlim in K. destruct (K (f (Z.of_nat h) q n C 0) P) as [d [D0 Hd]].
  exists (d / 2). split; [lra|]. split; [|intros u U; apply Dn; lra]. specialize (Hd (d / 2)). unfold D_x, no_cond in Hd. simpl in Hd. unfold R_dist in Hd.
  assert (X : Rabs (f (Z.of_nat h) q n C (d / 2) - f (Z.of_nat h) q n C 0) < f (Z.of_nat h) q n C 0) by (apply Hd; repeat split; try lra; rewrite Rminus_0_r, Rabs_pos_eq; lra).
  apply Rabs_def2 in X. lra.
Qed.

(** What the kernel has of Companions_win and Companions_lose it has of the two speeds. *)
Theorem win_is_a_slope q C L h : 0 <= q <= 1 -> (2 <= C)%nat -> (2 <= L)%nat -> (1 <= h)%nat ->
  Companions_win (Z.of_nat h) q ((L - 1) * C) (Z.of_nat C) -> Wins q C L h.
Proof.
  intros Q C2 L2 H1 Win alpha A Up i j k Kd. destruct (moves q C L h alpha i j k Q C2 L2 H1 Kd) as [g [r [G [H [G0 [H0 S0]]]]]].
  assert (D0 : 0 < INR (L * C)) by (apply lt_0_INR; nia). assert (Lp : 0 < INR L) by (apply lt_0_INR; lia).
  assert (P1 : 0 < INR (2 * h + 1)) by (apply lt_0_INR; lia). assert (P2 : 0 < INR (2 * h)) by (apply lt_0_INR; lia).
  assert (F0 : 0 <= f (Z.of_nat h) q ((L - 1) * C) (Z.of_nat C) (INR (L * C) * alpha ^ (2 * h + 1))).
  { assert (S1 := Up _ (slope_by_alpha q C L h alpha Q C2 L2)). assert (X : 0 < INR (2 * h + 1) * INR (L * C) * alpha ^ (2 * h)) by (repeat apply Rmult_lt_0_compat; try assumption; now apply pow_lt). nra. }
  destruct (grows _ _ S0) as [eps [E1 E2]].
  - change (g 0 - r 0 = 0). rewrite G0, H0. ring.
  - apply Rmult_lt_0_compat; [|now apply Win]. apply Rdiv_lt_0_compat; [|exact Lp]. repeat apply Rmult_lt_0_compat; try assumption. now apply pow_lt.
  - exists eps. split; [exact E1|]. intros beta B v v' V V'. rewrite (speed_unique _ _ _ _ _ _ _ _ _ _ V (G beta)), (speed_unique _ _ _ _ _ _ _ _ _ _ V' (H beta)). generalize (E2 beta B). lra.
Qed.
Theorem loss_is_a_slope q C L h : 0 <= q <= 1 -> (2 <= C)%nat -> (2 <= L)%nat -> (1 <= h)%nat ->
  Companions_lose (Z.of_nat h) q ((L - 1) * C) (Z.of_nat C) -> Loses q C L h.
Proof.
  intros Q C2 L2 H1 Lo. destruct (loss_witness q ((L - 1) * C) (Z.of_nat C) h Q ltac:(lia) Lo) as [u [U [Fu Du]]].
  assert (D0 : 0 < INR (L * C)) by (apply lt_0_INR; nia). assert (Lp : 0 < INR L) by (apply lt_0_INR; lia).
  assert (P1 : 0 < INR (2 * h + 1)) by (apply lt_0_INR; lia). assert (P2 : 0 < INR (2 * h)) by (apply lt_0_INR; lia).
  set (alpha := Rpower (u / INR (L * C)) (/ INR (2 * h + 1))). assert (A : 0 < alpha) by apply exp_pos.
  assert (Ea : INR (L * C) * alpha ^ (2 * h + 1) = u).
  { rewrite <- Rpower_pow by exact A. unfold alpha. rewrite Rpower_mult, Rinv_l, Rpower_1 by (try lra; apply Rdiv_lt_0_compat; lra). field. lra. }
  exists alpha. split; [exact A|]. split.
  - intros s S0. assert (S1 := slope_by_alpha q C L h alpha Q C2 L2). rewrite Ea in S1. apply is_derive_unique in S0, S1. rewrite S0 in S1. rewrite S1.
    assert (X : 0 < INR (2 * h + 1) * INR (L * C) * alpha ^ (2 * h)) by (repeat apply Rmult_lt_0_compat; try assumption; now apply pow_lt). nra.
  - intros a La i j k Kd. destruct (moves q C L h a i j k Q C2 L2 H1 Kd) as [g [r [G [H [G0 [H0 S0]]]]]].
    assert (Dn : Delta (Z.of_nat h) q ((L - 1) * C) (Z.of_nat C) (INR (L * C) * a ^ (2 * h + 1)) < 0).
    { apply Du. rewrite <- Ea. apply Rmult_le_compat_l; [lra|]. apply pow_incr. lra. }
    assert (Sn := is_derive_opp _ 0 _ S0). cbv beta in Sn. destruct (grows _ _ Sn) as [eps [E1 E2]].
    + change (- (g 0 - r 0) = 0). rewrite G0, H0. ring.
    + assert (X : 0 < INR (2 * h + 1) * INR (2 * h) * a ^ (2 * h + 1) / INR L).
      { apply Rdiv_lt_0_compat; [|exact Lp]. repeat apply Rmult_lt_0_compat; try assumption. apply pow_lt. lra. }
      apply Ropp_0_gt_lt_contravar. nra.
    + exists eps. split; [exact E1|]. intros beta B v v' V V'. rewrite (speed_unique _ _ _ _ _ _ _ _ _ _ V (G beta)), (speed_unique _ _ _ _ _ _ _ _ _ _ V' (H beta)). assert (X2 := E2 beta B). change (0 < - (g beta - r beta)) in X2. lra.
Qed.
(** Four patches in two sets, q = 1 / 2: the vote is never wrong. *)
Lemma small_win : Companions_win 1 (/ 2) 2 2.
Proof.
  intros u _. unfold Delta, patch. cbn [patches Nat.sub]. assert (P : forall m, 0 < w 1 u m) by (intros m; unfold w; apply Rinv_0_lt_compat; generalize (exp_pos (u * IZR (m ^ (2 * 1 + 1)))); lra).
  cbn. generalize (P 2%Z), (P 1%Z), (P 3%Z), (P 4%Z), (P 0%Z). lra.
Qed.
Example win_is_a_slope_instance : Wins (/ 2) 2 2 1.
Proof. apply win_is_a_slope; try lra; try lia. exact small_win. Qed.
(** Six patches in three sets, q = 1: the narrowest wrong vote decides. *)
Lemma patch_one g : patch 1 g = / 2 * (g 1%Z + g (-1)%Z).
Proof. unfold patch. field. Qed.
Lemma small_loss : Companions_lose 1 1 4 2.
Proof.
  exists (/ 8). assert (P : forall u m, 0 < w 1 u m) by (intros u m; unfold w; apply Rinv_0_lt_compat; generalize (exp_pos (u * IZR (m ^ (2 * 1 + 1)))); lra). split.
  - unfold f. cbn [patches]. rewrite !patch_one. cbn. assert (E8 : w 1 (/ 8) 2 = / (1 + exp 1)) by (unfold w; cbn; do 3 f_equal; field).
    assert (L : / 4 <= w 1 (/ 8) 2). { rewrite E8. apply Rinv_le_contravar; [generalize (exp_pos 1); lra | generalize exp_le_3; lra]. }
    assert (U : w 1 (/ 8) (-2) <= 1). { unfold w. rewrite <- Rinv_1. apply Rinv_le_contravar; [lra|]. generalize (exp_pos (/ 8 * IZR ((-2) ^ (2 * 1 + 1)))). lra. }
    generalize (P (/ 8) 4%Z), (P (/ 8) 6%Z), (P (/ 8) 0%Z). lra.
  - intros u U. unfold Delta. cbn [patches Nat.sub]. rewrite !patch_one. cbn.
    assert (W : w 1 u 2 < w 1 u (-2)). { unfold w. cbn. apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; generalize (exp_pos (u * 8)), (exp_pos (u * -8)); lra|]. apply Rplus_lt_compat_l, exp_increasing. lra. }
    generalize (P u 0%Z). lra.
Qed.
Example loss_is_a_slope_instance : Loses 1 2 3 1.
Proof. apply loss_is_a_slope; try lra; try lia. exact small_loss. Qed.
