(** Where a run ends: the point on the face where strangers are gone, and how fast they go. The claim is
    [Ends]. *)
(** In the book: ours-certified-end-point. *)
From Coq Require Import Reals ZArith List Lra Lia.
From Coquelicot Require Import Coquelicot.
From Book Require Import Ball Vote Blocks Risk Form Still.
Import ListNotations.
Open Scope R_scope.

(** * The definitions *)
Section Claim.
Variables (q : R) (C L : nat) (nu beta : R).
Notation D := (L * C)%nat.

(** The activation z^3 + nu z, and the three scores: of a patch for itself, for its set, for strangers. *)
Definition act (z : R) : R := z ^ 3 + nu * z.
Definition same (i j : nat) : bool := (i / C =? j / C)%nat.
Definition scores (gamma rho : R) (i j : nat) : R :=
  if (i =? j)%nat then beta else if same i j then gamma else rho.
(** y F for rows of attention, and the population risk of the three scores. *)
Definition yF_of (rows : nat -> nat -> R) (alpha : R) (x : list (list Z)) : R :=
  below D (fun i => act (INR D * heard C L (rows i) (fun j => alpha * sign x j))).
Definition risk_of rows alpha : R := input_mean q C L (fun x => loss (yF_of rows alpha x)).
Definition risk_at alpha gamma rho : R := risk_of (fun i => soft D (scores gamma rho i)) alpha.
(** The face: strangers are gone, and a patch hears all patches of its set alike. *)
Definition even (i j : nat) : R := if same i j then / INR C else 0.
Definition face (alpha : R) : R := risk_of even alpha.

(** The end point: the face is the limit of the risk; alpha is its only critical point above zero, and a strict
    minimum; and towards (alpha, beta, - infinity), along every way, the slope in rho is k e^rho. *)
Definition End_point (alpha k : R) : Prop :=
  0 < alpha /\ (forall a, is_lim (risk_at a beta) m_infty (face a)) /\
  (exists slope curve, (forall a, is_derive face a (slope a)) /\ is_derive slope alpha curve /\ 0 < curve /\
    (forall a, 0 < a < alpha -> slope a < 0) /\ slope alpha = 0 /\ (forall a, alpha < a -> 0 < slope a)) /\
  (forall a gamma rho, ex_derive (risk_at a gamma) rho) /\
  filterlim (fun x => Derive (risk_at (fst (fst x)) (snd (fst x))) (snd x) / exp (snd x))
    (filter_prod (filter_prod (locally alpha) (locally beta)) (Rbar_locally m_infty)) (locally k).

(** Gradient descent on rho, whose D (D - C) scores share the rate eta; and what it comes to on the way there. *)
Definition descends (eta : R) (al ga rh : nat -> R) : Prop := forall t,
  rh (S t) = rh t - eta / (INR D * (INR D - INR C)) * Derive (risk_at (al t) (ga t)) (rh t).
Definition Like_one_over_t (alpha k : R) : Prop := forall eta al ga rh, 0 < eta -> descends eta al ga rh ->
  is_lim_seq al alpha -> is_lim_seq ga beta -> is_lim_seq rh m_infty ->
  is_lim_seq (fun t => rh t + ln (INR t)) (ln (INR D * (INR D - INR C) / (eta * k))).

(** Such a point, with alpha and k between given bounds. *)
Definition Ends (low high low' high' : R) : Prop := exists alpha k,
  End_point alpha k /\ Like_one_over_t alpha k /\ low < alpha < high /\ low' < k < high'.
End Claim.

(** * Limits along any filter *)
Section Limits.
Context {T : Type} {F : (T -> Prop) -> Prop} {FF : Filter F}.
Definition tends (f : T -> R) (l : R) : Prop := filterlim f F (locally l).
Lemma tends_const c : tends (fun _ => c) c.
Proof. apply filterlim_const. Qed.
Lemma tends_plus f g a b : tends f a -> tends g b -> tends (fun t => f t + g t) (a + b).
Proof. intros H K. exact (filterlim_comp_2 f g Rplus H K (filterlim_plus a b)). Qed.
Lemma tends_mult f g a b : tends f a -> tends g b -> tends (fun t => f t * g t) (a * b).
Proof. intros H K. exact (filterlim_comp_2 f g Rmult H K (filterlim_mult a b)). Qed.
Lemma tends_comp (h : R -> R) f a : continuous h a -> tends f a -> tends (fun t => h (f t)) (h a).
Proof. intros H K. exact (filterlim_comp _ _ _ f h _ _ _ K H). Qed.
Lemma tends_opp f a : tends f a -> tends (fun t => - f t) (- a).
Proof. apply tends_comp, (ex_derive_continuous (V := R_NormedModule)). auto_derive. exact Logic.I. Qed.
Lemma tends_minus f g a b : tends f a -> tends g b -> tends (fun t => f t - g t) (a - b).
Proof. intros H K. apply tends_plus; [exact H | now apply tends_opp]. Qed.
Lemma tends_inv f a : a <> 0 -> tends f a -> tends (fun t => / f t) (/ a).
Proof. intros N. apply tends_comp, continuous_Rinv, N. Qed.
Lemma tends_div f g a b : b <> 0 -> tends f a -> tends g b -> tends (fun t => f t / g t) (a / b).
Proof. intros N H K. apply tends_mult; [exact H | now apply tends_inv]. Qed.
Lemma tends_exp f a : tends f a -> tends (fun t => exp (f t)) (exp a).
Proof. apply tends_comp, continuous_exp. Qed.
Lemma tends_pow n f a : tends f a -> tends (fun t => f t ^ n) (a ^ n).
Proof. intros H. induction n as [|n IH]; cbn [pow]; [apply tends_const | now apply tends_mult]. Qed.
Lemma tends_below n (f : nat -> T -> R) d : (forall j, (j < n)%nat -> tends (f j) (d j)) ->
  tends (fun t => below n (fun j => f j t)) (below n d).
Proof.
  induction n as [|n IH]; intros H; cbn [below]; [apply tends_const|].
  apply tends_plus; [apply IH; intros; apply H; lia | apply H; lia].
Qed.
Lemma tends_words q n (f : list Z -> T -> R) d : (forall l, tends (f l) (d l)) ->
  tends (fun t => words q n (fun l => f l t)) (words q n d).
Proof.
  revert f d. induction n as [|n IH]; intros f d H; cbn [words]; [apply H|]. unfold patch.
  repeat apply tends_plus; apply tends_mult; try apply tends_const; apply (IH (fun l => f (_ :: l))); intros; apply H.
Qed.
Lemma tends_sets q C k (f : list (list Z) -> T -> R) d : (forall r, tends (f r) (d r)) ->
  tends (fun t => sets q C k (fun r => f r t)) (sets q C k d).
Proof.
  revert f d. induction k as [|k IH]; intros f d H; cbn [sets]; [apply H|].
  apply (tends_words q C (fun l t => sets q C k (fun r => f (l :: r) t))). intros l. apply (IH (fun r => f (l :: r))). intros. apply H.
Qed.
Lemma tends_input q C L (f : list (list Z) -> T -> R) d : (forall x, tends (f x) (d x)) ->
  tends (fun t => input_mean q C L (fun x => f x t)) (input_mean q C L d).
Proof.
  intros H. unfold input_mean, Rdiv. apply tends_mult; [|apply tends_const].
  apply (tends_below L (fun l t => sets q C (L - 1) (fun r => f (placed C l r) t))). intros l _.
  apply (tends_sets q C (L - 1) (fun r => f (placed C l r))). intros. apply H.
Qed.
Lemma tends_loss f a : tends f a -> tends (fun t => loss (f t)) (loss a).
Proof.
  apply tends_comp. apply (ex_derive_continuous (V := R_NormedModule)). exists (- / (1 + exp a)). apply loss_derive.
Qed.
End Limits.
Arguments tends {T} F f l.

(** * How fast strangers go: a sequence whose steps are c e^s falls like minus a logarithm *)

Lemma exp_between d : d <= exp d - 1 <= d * exp d.
Proof.
  split; [generalize (exp_ineq1_le d); lra|]. assert (H := exp_ineq1_le (- d)). assert (P := exp_pos d).
  assert (E : exp d * exp (- d) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0). nra.
Qed.
Lemma sum_of_steps (u : nat -> R) n : sum_f_R0 (fun t => u (S t) - u t) n = u (S n) - u 0%nat.
Proof. induction n as [|n IH]; cbn [sum_f_R0]; [reflexivity|]. rewrite IH. ring. Qed.

Theorem like_one_over_t (s : nat -> R) (c : R) : 0 < c -> is_lim_seq s m_infty ->
  is_lim_seq (fun t => (s t - s (S t)) / exp (s t)) c -> is_lim_seq (fun t => s t + ln (INR t)) (- ln c).
Proof.
  intros C down ratio. set (r := fun t => (s t - s (S t)) / exp (s t)) in *. set (u := fun t => exp (- s t)).
  assert (ex : is_lim_seq (fun t => exp (s t)) 0) by exact (filterlim_comp _ _ _ s exp _ _ _ down is_lim_exp_m).
  assert (step : forall t, s t - s (S t) = r t * exp (s t)) by (intros t; unfold r; field; generalize (exp_pos (s t)); lra).
  assert (un : forall t, u t * exp (s t) = 1) by (intros t; unfold u; rewrite <- exp_plus, Rplus_opp_l; apply exp_0).
  assert (d0 : is_lim_seq (fun t => exp (r t * exp (s t))) 1).
  { rewrite <- exp_0. apply (is_lim_seq_continuous exp _ 0).
    - apply derivable_continuous_pt, derivable_pt_exp.
    - replace 0 with (c * 0) by ring. apply is_lim_seq_mult'; assumption. }
  assert (rise : is_lim_seq (fun t => u (S t) - u t) c).
  { apply (is_lim_seq_le_le r _ (fun t => r t * exp (r t * exp (s t)))).
    - intros t. assert (E : u (S t) - u t = u t * (exp (r t * exp (s t)) - 1)).
      { rewrite Rmult_minus_distr_l, Rmult_1_r. unfold u at 1 3. rewrite <- exp_plus, <- step. f_equal. f_equal. ring. }
      rewrite E. destruct (exp_between (r t * exp (s t))) as [lo hi]. assert (P : 0 < u t) by apply exp_pos. specialize (un t).
      split.
      + replace (r t) with (u t * (r t * exp (s t))) at 1 by (transitivity (r t * (u t * exp (s t))); [ring | rewrite un; ring]).
        apply Rmult_le_compat_l; lra.
      + replace (r t * exp (r t * exp (s t))) with (u t * (r t * exp (s t) * exp (r t * exp (s t))))
          by (transitivity ((u t * exp (s t)) * (r t * exp (r t * exp (s t)))); [ring | rewrite un; ring]).
        apply Rmult_le_compat_l; lra.
    - exact ratio.
    - replace (Finite c) with (Finite (c * 1)) by (f_equal; ring). apply is_lim_seq_mult'; assumption. }
  apply is_lim_seq_Reals, Cesaro_1, is_lim_seq_Reals in rise.
  assert (inv : is_lim_seq (fun n => / INR n) 0).
  { replace (Finite 0) with (Rbar_inv p_infty) by reflexivity. apply is_lim_seq_inv; [apply is_lim_seq_INR | discriminate]. }
  assert (mean : is_lim_seq (fun n => u n / INR n) c).
  { apply (is_lim_seq_ext_loc (fun n => sum_f_R0 (fun t => u (S t) - u t) (Init.Nat.pred n) / INR n + u 0%nat * / INR n)).
    - exists 1%nat. intros [|n] H; [lia|]. rewrite sum_of_steps. cbn [Init.Nat.pred]. unfold Rdiv. ring.
    - replace (Finite c) with (Finite (c + u 0%nat * 0)) by (f_equal; ring).
      apply is_lim_seq_plus'; [exact rise|]. apply is_lim_seq_mult'; [apply is_lim_seq_const | exact inv]. }
  apply (is_lim_seq_ext_loc (fun n => - ln (u n / INR n))).
  - exists 1%nat. intros n H. assert (N : 0 < INR n) by (apply lt_0_INR; lia). unfold Rdiv.
    rewrite ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; assumption || apply exp_pos). unfold u. rewrite ln_exp. ring.
  - change (Finite (- ln c)) with (Rbar_opp (ln c)). rewrite <- is_lim_seq_opp.
    apply (is_lim_seq_continuous ln _ c); [|exact mean]. apply derivable_continuous_pt. exists (/ c). now apply derivable_pt_lim_ln.
Qed.

(** Such a sequence sinks as far as one likes. *)
Lemma sinks (s : nat -> R) g : 0 < g -> (forall t, s (S t) <= s t - g * exp (s t)) -> is_lim_seq s m_infty.
Proof.
  intros G H. assert (mono : forall t n, (t <= n)%nat -> s n <= s t).
  { intros t n I. induction I as [|n _ IH]; [lra|]. generalize (H n), (exp_pos (s n)). nra. }
  apply is_lim_seq_spec. intros M. assert (P : 0 < g * exp M) by (apply Rmult_lt_0_compat; [exact G | apply exp_pos]).
  destruct (proj2 (is_lim_seq_spec INR p_infty) is_lim_seq_INR ((s 0%nat - M) / (g * exp M))) as [N HN]. specialize (HN N (le_n N)).
  exists N. intros n Hn.
  apply Rle_lt_trans with (s N); [now apply mono|]. apply Rnot_le_lt. intros above.
  assert (K : forall t, (t <= N)%nat -> s t <= s 0%nat - INR t * (g * exp M)).
  { induction t as [|t IH]; intros T; [cbn; lra|]. rewrite S_INR. specialize (IH ltac:(lia)).
    assert (E : exp M <= exp (s t)).
    { assert (A : M <= s t) by (generalize (mono t N ltac:(lia)); lra). destruct A as [A | ->]; [left; now apply exp_increasing | lra]. }
    generalize (H t). nra. }
  specialize (K N (le_n N)). apply (Rmult_lt_compat_r (g * exp M)) in HN; [|exact P].
  unfold Rdiv in HN. rewrite Rmult_assoc, Rinv_l, Rmult_1_r in HN by lra. lra.
Qed.
Fixpoint sunk (f : R -> R) (s0 : R) (t : nat) : R := match t with O => s0 | S t => f (sunk f s0 t) end.

Example like_one_over_t_instance : let s := sunk (fun x => x - 2 * exp x) 0 in is_lim_seq (fun t => s t + ln (INR t)) (- ln 2).
Proof.
  intros s. apply like_one_over_t; [lra | apply (sinks s 2); [lra | intros; apply Rle_refl]|].
  apply (is_lim_seq_ext (fun _ => 2)); [|apply is_lim_seq_const]. intros t.
  change (2 = (s t - (s t - 2 * exp (s t))) / exp (s t)). field. generalize (exp_pos (s t)). lra.
Qed.

Section Slope.
Variables (q : R) (C L : nat) (nu beta : R).
Hypothesis q_range : 0 <= q <= 1.
Hypothesis C_positive : (1 <= C)%nat.
Hypothesis L_positive : (1 <= L)%nat.
Notation D := (L * C)%nat.
Notation scores := (scores C beta).

(** * The slope in rho, at any scores *)

(** A stranger's score is rho. *)
Definition strange (i j : nat) : R := if same C i j then 0 else 1.
Definition mass gamma rho i := below D (fun j => exp (scores gamma rho i j)).
Definition push gamma rho i j :=
  (strange i j * mass gamma rho i - exp (scores gamma rho i j) * below D (strange i)) / mass gamma rho i ^ 2.
Definition act' z := 3 * z ^ 2 + nu.
Definition hears (rows : nat -> nat -> R) alpha x i := INR D * heard C L (rows i) (fun j => alpha * sign x j).
Definition soft_rows gamma rho i := soft D (scores gamma rho i).
Definition turns alpha x (rows d : nat -> nat -> R) : R :=
  below D (fun i => hears d alpha x i * act' (hears rows alpha x i)) * - / (1 + exp (yF_of C L nu rows alpha x)).
Definition drift alpha gamma rho : R :=
  input_mean q C L (fun x => turns alpha x (soft_rows gamma rho) (push gamma rho)).

Lemma act_derive z : is_derive (act nu) z (act' z).
Proof. unfold act, act'. auto_derive; [exact Logic.I | ring]. Qed.
Lemma same_self i : same C i i = true.
Proof. apply Nat.eqb_refl. Qed.
Lemma score_derive gamma rho i j : is_derive (fun r => scores gamma r i j) rho (strange i j).
Proof.
  unfold Ends.scores, strange. destruct (Nat.eqb_spec i j) as [<- |].
  - rewrite same_self. apply (is_derive_const (V := R_NormedModule)).
  - destruct (same C i j); [apply (is_derive_const (V := R_NormedModule)) | apply (is_derive_id (K := R_AbsRing))].
Qed.
Lemma strange_exp gamma rho i j : exp (scores gamma rho i j) * strange i j = exp rho * strange i j.
Proof.
  unfold Ends.scores, strange. destruct (Nat.eqb_spec i j) as [<- |]; [rewrite same_self; ring|]. destruct (same C i j); ring.
Qed.
Lemma mass_positive gamma rho i : 0 < mass gamma rho i.
Proof.
  unfold mass. assert (P : (0 < D)%nat) by (apply Nat.mul_pos_pos; lia). destruct D as [|n]; [lia|]. cbn [below].
  assert (0 <= below n (fun j => exp (scores gamma rho i j))) by (apply below_nonneg; intros; left; apply exp_pos).
  generalize (exp_pos (scores gamma rho i n)). lra.
Qed.
Lemma exp_score_derive gamma rho i j : is_derive (fun r => exp (scores gamma r i j)) rho (exp rho * strange i j).
Proof.
  rewrite <- (strange_exp gamma), Rmult_comm.
  apply (is_derive_comp exp (fun r => scores gamma r i j)); [apply is_derive_exp | apply score_derive].
Qed.
Lemma soft_push gamma rho i j : is_derive (fun r => soft_rows gamma r i j) rho (exp rho * push gamma rho i j).
Proof.
  assert (P := mass_positive gamma rho i). unfold soft_rows, soft.
  replace (exp rho * push gamma rho i j) with
    ((exp rho * strange i j * mass gamma rho i - exp (scores gamma rho i j) * (exp rho * below D (strange i))) / mass gamma rho i ^ 2).
  - apply (is_derive_div (fun r => exp (scores gamma r i j)) (fun r => below D (fun k => exp (scores gamma r i k)))).
    + apply exp_score_derive.
    + rewrite <- below_times. apply (below_derive C L C_positive L_positive D (fun k r => exp (scores gamma r i k))).
      intros. apply exp_score_derive.
    + unfold mass in P. lra.
  - unfold push. field. lra.
Qed.
Lemma hears_push gamma rho alpha x i :
  is_derive (fun r => hears (soft_rows gamma r) alpha x i) rho (exp rho * hears (push gamma rho) alpha x i).
Proof.
  unfold hears, heard. replace (exp rho * (INR D * below D (fun j => push gamma rho i j * (alpha * sign x j)))) with
    (INR D * below D (fun j => (alpha * sign x j) * (exp rho * push gamma rho i j))).
  - apply is_derive_scal. apply (below_derive C L C_positive L_positive D (fun j r => soft_rows gamma r i j * (alpha * sign x j))).
    intros j _. apply (is_derive_ext (fun r => (alpha * sign x j) * soft_rows gamma r i j)); [intros; apply Rmult_comm|].
    apply is_derive_scal, soft_push.
  - rewrite (below_ext D _ (fun j => exp rho * (push gamma rho i j * (alpha * sign x j)))) by (intros; ring).
    rewrite below_times. ring.
Qed.
Lemma risk_slope alpha gamma rho : is_derive (risk_at q C L nu beta alpha gamma) rho (exp rho * drift alpha gamma rho).
Proof.
  unfold risk_at, risk_of, drift. replace (exp rho * input_mean q C L _) with
    (input_mean q C L (fun x => exp rho * turns alpha x (soft_rows gamma rho) (push gamma rho))).
  - apply (input_derive q C L C_positive L_positive (fun x r => loss (yF_of C L nu (soft_rows gamma r) alpha x))). intros x.
    replace (exp rho * turns alpha x (soft_rows gamma rho) (push gamma rho)) with
      (below D (fun i => exp rho * hears (push gamma rho) alpha x i * act' (hears (soft_rows gamma rho) alpha x i))
       * - / (1 + exp (yF_of C L nu (soft_rows gamma rho) alpha x))).
    + apply (is_derive_comp loss (fun r => yF_of C L nu (soft_rows gamma r) alpha x)); [apply loss_derive|].
      apply (below_derive C L C_positive L_positive D (fun i r => act nu (hears (soft_rows gamma r) alpha x i))). intros i _.
      apply (is_derive_comp (act nu) (fun r => hears (soft_rows gamma r) alpha x i)); [apply act_derive | apply hears_push].
    + unfold turns. rewrite (below_ext D _ (fun i => exp rho * (hears (push gamma rho) alpha x i * act' (hears (soft_rows gamma rho) alpha x i))))
        by (intros; ring). rewrite below_times. ring.
  - apply (input_times q C L q_range).
Qed.

(** * On the way to the end point: alpha and gamma settle, gamma at beta, and rho falls *)

Section Way.
Context {T : Type} {F : (T -> Prop) -> Prop} {FF : Filter F}.
Variables (al ga rh : T -> R) (alpha : R).
Hypothesis to_alpha : tends F al alpha.
Hypothesis to_beta : tends F ga beta.
Hypothesis to_face : tends F (fun t => exp (rh t)) 0.

Definition own (i j : nat) : R := if same C i j then exp beta else 0.
Definition push_end i j := (strange i j * (INR C * exp beta) - own i j * below D (strange i)) / (INR C * exp beta) ^ 2.
Lemma blocks n f : below (n * C) f = below n (fun s => below C (fun c => f (s * C + c)%nat)).
Proof.
  induction n as [|n IH]; [reflexivity|]. cbn [below]. rewrite <- IH, Nat.mul_succ_l.
  enough (H : forall m, below (n * C + m) f = below (n * C) f + below m (fun c => f (n * C + c)%nat)) by apply H.
  induction m as [|m IHm]; [rewrite Nat.add_0_r; cbn [below]; ring|]. rewrite Nat.add_succ_r. cbn [below]. rewrite IHm. ring.
Qed.
Lemma in_set s c : (c < C)%nat -> ((s * C + c) / C = s)%nat.
Proof. intros H. rewrite Nat.div_add_l by lia. rewrite Nat.div_small by exact H. lia. Qed.
Lemma own_mass i : (i < D)%nat -> below D (own i) = INR C * exp beta.
Proof.
  intros H. rewrite blocks. rewrite (below_ext L _ (fun s => if (s =? i / C)%nat then INR C * exp beta else 0)).
  - rewrite (pick C L C_positive L_positive); [ring|]. apply Nat.div_lt_upper_bound; lia.
  - intros s _. rewrite (below_ext C _ (fun _ => if (s =? i / C)%nat then exp beta else 0)).
    + rewrite below_const. destruct (s =? i / C)%nat; ring.
    + intros c K. unfold own, same. rewrite in_set by exact K. now rewrite Nat.eqb_sym.
Qed.
Lemma C_exp : INR C * exp beta <> 0.
Proof. apply Rmult_integral_contrapositive. split; [apply not_0_INR; lia | generalize (exp_pos beta); lra]. Qed.
Lemma even_is i j : even C i j = own i j / (INR C * exp beta).
Proof.
  assert (H := C_exp). unfold even, own. destruct (same C i j); [|unfold Rdiv; ring]. field. split; [|apply not_0_INR; lia].
  generalize (exp_pos beta). lra.
Qed.
Lemma way_score i j : tends F (fun t => exp (scores (ga t) (rh t) i j)) (own i j).
Proof.
  unfold Ends.scores, own. destruct (Nat.eqb_spec i j) as [<- |].
  - rewrite same_self. apply tends_const.
  - destruct (same C i j); [now apply tends_exp | exact to_face].
Qed.
Lemma way_mass i : (i < D)%nat -> tends F (fun t => mass (ga t) (rh t) i) (INR C * exp beta).
Proof. intros H. rewrite <- (own_mass i H). apply tends_below. intros. apply way_score. Qed.
Lemma way_soft i j : (i < D)%nat -> tends F (fun t => soft_rows (ga t) (rh t) i j) (even C i j).
Proof. intros H. rewrite even_is. apply tends_div; [exact C_exp | apply way_score | now apply way_mass]. Qed.
Lemma way_push i j : (i < D)%nat -> tends F (fun t => push (ga t) (rh t) i j) (push_end i j).
Proof.
  intros H. apply tends_div; [apply pow_nonzero, C_exp | | now apply tends_pow, way_mass].
  apply tends_minus; apply tends_mult; try apply tends_const; [now apply way_mass | apply way_score].
Qed.
Lemma way_hears (rows : T -> nat -> nat -> R) (d : nat -> nat -> R) x i : (forall j, tends F (fun t => rows t i j) (d i j)) ->
  tends F (fun t => hears (rows t) (al t) x i) (hears d alpha x i).
Proof.
  intros H. apply tends_mult; [apply tends_const|]. apply (tends_below D (fun j t => rows t i j * (al t * sign x j))). intros j _.
  apply tends_mult; [apply H|]. apply tends_mult; [exact to_alpha | apply tends_const].
Qed.
Lemma way_yF x : tends F (fun t => yF_of C L nu (soft_rows (ga t) (rh t)) (al t) x) (yF_of C L nu (even C) alpha x).
Proof.
  apply (tends_below D (fun i t => act nu (hears (soft_rows (ga t) (rh t)) (al t) x i))). intros i H.
  apply tends_plus; [apply tends_pow | apply tends_mult; [apply tends_const|]]; apply way_hears; intros; now apply way_soft.
Qed.
Lemma way_risk : tends F (fun t => risk_at q C L nu beta (al t) (ga t) (rh t)) (face q C L nu alpha).
Proof.
  apply (tends_input q C L (fun x t => loss (yF_of C L nu (soft_rows (ga t) (rh t)) (al t) x))). intros x. apply tends_loss, way_yF.
Qed.
Lemma way_drift : tends F (fun t => drift (al t) (ga t) (rh t)) (input_mean q C L (fun x => turns alpha x (even C) push_end)).
Proof.
  apply (tends_input q C L (fun x t => turns (al t) x (soft_rows (ga t) (rh t)) (push (ga t) (rh t)))). intros x.
  apply tends_mult.
  - apply (tends_below D (fun i t => hears (push (ga t) (rh t)) (al t) x i * act' (hears (soft_rows (ga t) (rh t)) (al t) x i))).
    intros i H. apply tends_mult; [apply way_hears; intros; now apply way_push|].
    apply tends_plus; [apply tends_mult; [apply tends_const|]; apply tends_pow | apply tends_const]; apply way_hears; intros; now apply way_soft.
  - apply tends_opp, tends_inv; [generalize (exp_pos (yF_of C L nu (even C) alpha x)); lra|].
    apply tends_plus; [apply tends_const | apply tends_exp, way_yF].
Qed.
End Way.
End Slope.
(** * At the end point an input counts by three sums over its sets, of n^3, n and n^2 *)

Definition key : Type := Z * Z * Z.
Definition kP (k : key) : Z := fst (fst k).
Definition kM (k : key) : Z := snd (fst k).
Definition kQ (k : key) : Z := snd k.
Definition with_set (n : Z) (k : key) : key := (n ^ 3 + kP k, n + kM k, n * n + kQ k)%Z.
Definition keys (x : list (list Z)) : key := fold_right (fun l => with_set (sum l)) (0, 0, 0)%Z x.

Section Keys.
Variables (q : R) (C L : nat) (nu beta : R).
Hypothesis q_range : 0 <= q <= 1.
Hypothesis C_positive : (1 <= C)%nat.
Hypothesis L_positive : (1 <= L)%nat.
Notation D := (L * C)%nat.

Definition set_sum (x : list (list Z)) s : R := IZR (sum (nth s x [])).
Definition K : R := INR C * INR L ^ 3.
Definition y alpha (k : key) : R := K * alpha ^ 3 * IZR (kP k) + nu * INR D * alpha * IZR (kM k).
Definition weigh_down alpha k : R := / (1 + exp (y alpha k)).

Lemma sign_at x s c : List.Forall (fun l : list Z => length l = C) x -> (c < C)%nat ->
  sign x (s * C + c) = IZR (nth c (nth s x []) 0%Z).
Proof.
  intros H Hc. unfold sign. f_equal. revert s. induction H as [|l x Hl _ IH]; intros s.
  - destruct s; destruct c; cbn; now destruct (_ + _)%nat || idtac.
  - cbn [concat]. destruct s as [|s].
    + cbn [Nat.mul Nat.add nth]. rewrite app_nth1 by lia. reflexivity.
    + rewrite app_nth2 by (rewrite Hl; lia). cbn [nth]. rewrite <- IH. f_equal. rewrite Hl. lia.
Qed.
Lemma set_signs x s : of_signs C L x -> (s < L)%nat -> below C (fun c => sign x (s * C + c)) = set_sum x s.
Proof.
  intros [H Hl] Hs. assert (F : List.Forall (fun l : list Z => length l = C) x) by (eapply Forall_impl; [|exact H]; now intros l [_ E]).
  assert (E : length (nth s x []) = C) by (rewrite Forall_forall in F; apply F, nth_In; lia).
  rewrite (below_ext C _ (fun c => IZR (nth c (nth s x []) 0%Z))) by (intros c Hc; now apply sign_at).
  unfold set_sum. now rewrite <- sum_below, E.
Qed.
Lemma pick_set n k u v (g : nat -> R) : (k < n)%nat ->
  below n (fun s => (if (k =? s)%nat then u else v) * g s) = v * below n g + (u - v) * g k.
Proof.
  revert k. induction n as [|n IH]; intros k H; [lia|]. cbn [below]. destruct (Nat.eqb_spec k n) as [-> | N].
  - rewrite (below_ext n _ (fun s => v * g s)); [rewrite below_times; ring|].
    intros s Hs. destruct (Nat.eqb_spec n s); [lia | reflexivity].
  - rewrite IH by lia. ring.
Qed.
Lemma below_sum n x (g : list Z -> R) : length x = n -> below n (fun s => g (nth s x [])) = fold_right (fun l t => g l + t) 0 x.
Proof.
  intros <-. induction x as [|l x IH]; [reflexivity|]. cbn [length fold_right]. rewrite <- IH. clear IH.
  enough (E : forall m f, below (S m) f = f 0%nat + below m (fun s => f (S s))) by apply E.
  induction m as [|m IHm]; intros f; [cbn [below]; ring|]. change (below (S (S m)) f) with (below (S m) f + f (S m)).
  rewrite IHm. cbn [below]. ring.
Qed.
Lemma sum_cubes x : length x = L -> below L (fun s => set_sum x s ^ 3) = IZR (kP (keys x)).
Proof.
  intros H. unfold set_sum. rewrite (below_sum L x (fun l => IZR (sum l) ^ 3) H). clear H. induction x as [|l x IH]; [reflexivity|].
  change (kP (keys (l :: x))) with (sum l ^ 3 + kP (keys x))%Z. cbn [fold_right]. now rewrite IH, plus_IZR, <- (pow_IZR _ 3).
Qed.
Lemma sum_votes x : length x = L -> below L (set_sum x) = IZR (kM (keys x)).
Proof.
  intros H. change (below L (set_sum x)) with (below L (fun s => IZR (sum (nth s x [])))).
  rewrite (below_sum L x (fun l => IZR (sum l)) H). clear H. induction x as [|l x IH]; [reflexivity|].
  change (kM (keys (l :: x))) with (sum l + kM (keys x))%Z. cbn [fold_right]. now rewrite IH, plus_IZR.
Qed.
Lemma sum_squares x : length x = L -> below L (fun s => set_sum x s ^ 2) = IZR (kQ (keys x)).
Proof.
  intros H. unfold set_sum. rewrite (below_sum L x (fun l => IZR (sum l) ^ 2) H). clear H. induction x as [|l x IH]; [reflexivity|].
  change (kQ (keys (l :: x))) with (sum l * sum l + kQ (keys x))%Z. cbn [fold_right]. rewrite IH, plus_IZR, mult_IZR. ring.
Qed.

Lemma two_values (f : nat -> nat -> R) u v alpha x i : (forall j, f i j = if same C i j then u else v) -> of_signs C L x ->
  (i < D)%nat -> hears C L f alpha x i = INR D * alpha * (v * IZR (kM (keys x)) + (u - v) * set_sum x (i / C)).
Proof.
  intros H Hx Hi. unfold hears, heard. rewrite Rmult_assoc. f_equal. rewrite (blocks C L).
  rewrite (below_ext L _ (fun s => (if (i / C =? s)%nat then u else v) * (alpha * set_sum x s))).
  - rewrite pick_set by (apply Nat.div_lt_upper_bound; lia). rewrite below_times, sum_votes by apply Hx. ring.
  - intros s Hs. rewrite <- (set_signs x s Hx Hs), <- below_times, <- below_times. apply below_ext. intros c Hc.
    rewrite H. unfold same. now rewrite (in_set C L).
Qed.
Lemma hears_even alpha x i : of_signs C L x -> (i < D)%nat -> hears C L (even C) alpha x i = INR L * alpha * set_sum x (i / C).
Proof.
  intros Hx Hi. rewrite (two_values _ (/ INR C) 0) by (reflexivity || assumption). rewrite mult_INR. field. apply not_0_INR. lia.
Qed.
Lemma strangers i : (i < D)%nat -> below D (strange C i) = INR C * (INR L - 1).
Proof.
  intros H. rewrite (blocks C L). rewrite (below_ext L _ (fun s => (if (i / C =? s)%nat then 0 else 1) * INR C)).
  - rewrite pick_set by (apply Nat.div_lt_upper_bound; lia). rewrite below_const. ring.
  - intros s _. rewrite (below_ext C _ (fun _ => if (i / C =? s)%nat then 0 else 1)); [rewrite below_const; ring|].
    intros c Hc. unfold strange, same. now rewrite (in_set C L).
Qed.
Lemma hears_push_end alpha x i : of_signs C L x -> (i < D)%nat ->
  hears C L (push_end C L beta) alpha x i = INR L * alpha / exp beta * (IZR (kM (keys x)) - INR L * set_sum x (i / C)).
Proof.
  intros Hx Hi. assert (E := exp_pos beta). assert (N : INR C <> 0) by (apply not_0_INR; lia).
  rewrite (two_values _ (- (INR L - 1) / (INR C * exp beta)) (/ (INR C * exp beta))); [|intros j | assumption | assumption].
  - rewrite mult_INR. field. split; [lra | exact N].
  - unfold push_end, own. rewrite strangers by exact Hi. unfold strange. destruct (same C i j); field; split; lra || exact N.
Qed.

(** Sums over patches are C times sums over sets. *)
Lemma by_sets (g : R -> R) x : below D (fun i => g (set_sum x (i / C))) = INR C * below L (fun s => g (set_sum x s)).
Proof.
  rewrite (blocks C L), <- below_times. apply below_ext. intros s _.
  rewrite (below_ext C _ (fun _ => g (set_sum x s))); [apply below_const|]. intros c Hc. now rewrite (in_set C L).
Qed.
Lemma yF_even alpha x : of_signs C L x -> yF_of C L nu (even C) alpha x = y alpha (keys x).
Proof.
  intros Hx. unfold yF_of. rewrite (below_ext D _ (fun i => act nu (INR L * alpha * set_sum x (i / C)))).
  - rewrite (by_sets (fun n => act nu (INR L * alpha * n))). unfold act, y, K.
    rewrite (below_ext L _ (fun s => (INR L * alpha) ^ 3 * set_sum x s ^ 3 + nu * (INR L * alpha) * set_sum x s)) by (intros; ring).
    rewrite below_plus, !below_times, sum_cubes, sum_votes by apply Hx. rewrite mult_INR. ring.
  - intros i Hi. f_equal. now apply hears_even.
Qed.
Lemma turns_end alpha x : of_signs C L x -> turns C L nu alpha x (even C) (push_end C L beta) =
  3 * K * alpha ^ 3 / exp beta * ((INR L * IZR (kP (keys x)) - IZR (kM (keys x)) * IZR (kQ (keys x))) * weigh_down alpha (keys x)).
Proof.
  intros Hx. unfold turns, weigh_down. rewrite yF_even by exact Hx. set (w := / _). set (M := IZR (kM (keys x))).
  rewrite (below_ext D _ (fun i => INR L * alpha / exp beta * (M - INR L * set_sum x (i / C)) * act' nu (INR L * alpha * set_sum x (i / C)))).
  - rewrite (by_sets (fun n => INR L * alpha / exp beta * (M - INR L * n) * act' nu (INR L * alpha * n))). unfold act'.
    rewrite (below_ext L _ (fun s => (INR L * alpha / exp beta) * ((3 * (INR L * alpha) ^ 2 * M) * set_sum x s ^ 2
      + (- 3 * INR L * (INR L * alpha) ^ 2) * set_sum x s ^ 3 + nu * (- INR L) * set_sum x s + nu * M))) by (intros; ring).
    rewrite below_times, !below_plus, !below_times, below_const, sum_cubes, sum_votes, sum_squares by apply Hx. fold M. unfold K.
    generalize (exp_pos beta). intros E. field. lra.
  - intros i Hi. rewrite hears_push_end, hears_even by assumption. reflexivity.
Qed.
End Keys.

(** * The law of the three sums, in integers, for q = a / b *)
Definition atoms : Type := list (key * Z).
Fixpoint overk (l : atoms) (g : key -> R) : R :=
  match l with [] => 0 | (k, w) :: l => IZR w * g k + overk l g end.
Definition same_key (k k' : key) : bool := (kP k =? kP k')%Z && (kM k =? kM k')%Z && (kQ k =? kQ k')%Z.
Fixpoint putk (k : key) (w : Z) (l : atoms) : atoms :=
  match l with
  | [] => [(k, w)]
  | (k', w') :: r => if same_key k k' then (k', w + w')%Z :: r else (k', w') :: putk k w r
  end.
Fixpoint shiftedk (n w : Z) (r s : atoms) : atoms :=
  match r with [] => s | (k, w') :: r => putk (with_set n k) (w * w') (shiftedk n w r s) end.
Fixpoint convk (l : Blocks.law) (r : atoms) : atoms :=
  match l with [] => [] | (n, w) :: l => shiftedk n w r (convk l r) end.

Lemma over_putk k w l g : overk (putk k w l) g = IZR w * g k + overk l g.
Proof.
  induction l as [|[k' w'] r IH]; cbn [putk overk]; [reflexivity|]. destruct (same_key k k') eqn:E; cbn [overk].
  - unfold same_key in E. rewrite !Bool.andb_true_iff, !Z.eqb_eq in E. destruct E as [[E1 E2] E3].
    destruct k as [[p m] s], k' as [[p' m'] s']. unfold kP, kM, kQ in *. cbn [fst snd] in *. subst. rewrite plus_IZR. ring.
  - rewrite IH. ring.
Qed.
Lemma over_shiftedk n w r s g : overk (shiftedk n w r s) g = IZR w * overk r (fun k => g (with_set n k)) + overk s g.
Proof. induction r as [|[k w'] r IH]; cbn [shiftedk overk]; [ring|]. rewrite over_putk, IH, mult_IZR. ring. Qed.
Lemma over_convk l r g : overk (convk l r) g = over l (fun n => overk r (fun k => g (with_set n k))).
Proof. induction l as [|[n w] l IH]; cbn [convk over]; [reflexivity|]. now rewrite over_shiftedk, IH. Qed.
Lemma overk_ext l g h : (forall k, g k = h k) -> overk l g = overk l h.
Proof. intros H. induction l as [|[k w] l IH]; cbn [overk]; [reflexivity|]. now rewrite H, IH. Qed.
Lemma overk_times l c g : overk l (fun k => c * g k) = c * overk l g.
Proof. induction l as [|[k w] l IH]; cbn [overk]; [ring|]. rewrite IH. ring. Qed.
Lemma overk_plus l g h : overk l (fun k => g k + h k) = overk l g + overk l h.
Proof. induction l as [|[k w] l IH]; cbn [overk]; [ring|]. rewrite IH. ring. Qed.
Lemma overk_derive l (f : key -> R -> R) d t : (forall k, is_derive (f k) t (d k)) ->
  is_derive (fun s => overk l (fun k => f k s)) t (overk l d).
Proof.
  intros H. induction l as [|[k w] l IH]; cbn [overk]; [exact (is_derive_const (V := R_NormedModule) 0 t)|].
  apply (is_derive_plus (fun s => IZR w * f k s)); [apply is_derive_scal, H | exact IH].
Qed.
Definition weighted (l : atoms) : bool := forallb (fun e => 0 <=? snd e)%Z l.
Lemma overk_le l g h : weighted l = true -> (forall e, In e l -> g (fst e) <= h (fst e)) -> overk l g <= overk l h.
Proof.
  intros W H. induction l as [|[k w] l IH]; cbn [overk]; [lra|]. cbn [weighted forallb snd] in W.
  apply Bool.andb_true_iff in W. destruct W as [W0 W]. apply Z.leb_le, IZR_le in W0.
  assert (G := H (k, w) (or_introl eq_refl)). cbn [fst] in G. assert (J := IH W (fun e E => H e (or_intror E))). nra.
Qed.

Section Law.
Variables (a b : Z) (C L : nat) (nu beta : R).
Hypothesis b_positive : (0 < b)%Z.
Hypothesis q_range : 0 <= IZR a / IZR b <= 1.
Hypothesis C_positive : (1 <= C)%nat.
Hypothesis L_positive : (1 <= L)%nat.
Let q := IZR a / IZR b.

Definition one_set : Blocks.law := fold_right (fun x s => put (sum (fst x)) (snd x) s) [] (all a b C).
Fixpoint inputs (k : nat) : atoms :=
  match k with O => [(with_set (Z.of_nat C) (0, 0, 0)%Z, 1%Z)] | S k => convk one_set (inputs k) end.
Lemma one_set_right g : IZR (2 * b) ^ C * words q C (fun l => g (sum l)) = over one_set g.
Proof.
  unfold q. rewrite (all_right a b b_positive). unfold one_set. induction (all a b C) as [|x l IH]; [reflexivity|].
  cbn [weigh fold_right]. now rewrite over_put, IH.
Qed.
Lemma swap_sets m n k : with_set m (with_set n k) = with_set n (with_set m k).
Proof. unfold with_set, kP, kM, kQ. cbn [fst snd]. f_equal; [f_equal|]; ring. Qed.
Lemma inputs_right k g : IZR (2 * b) ^ (C * k) * sets q C k (fun r => g (with_set (Z.of_nat C) (keys r))) = overk (inputs k) g.
Proof.
  revert g. induction k as [|k IH]; intros g.
  - rewrite Nat.mul_0_r. cbn [pow sets inputs overk keys fold_right]. ring.
  - cbn [sets inputs]. rewrite over_convk, <- one_set_right, Nat.mul_succ_r, pow_add, (Rmult_comm (_ ^ _)), Rmult_assoc. f_equal.
    rewrite <- words_times. apply words_ext. intros l. rewrite <- IH. f_equal.
    change (fun r => g (with_set (Z.of_nat C) (keys (l :: r)))) with (fun r => g (with_set (Z.of_nat C) (with_set (sum l) (keys r)))).
    apply (sets_ext_signs q C q_range). intros r _. now rewrite swap_sets.
Qed.
Lemma keys_placed l r : keys (placed C l r) = with_set (Z.of_nat C) (keys r).
Proof.
  unfold placed. rewrite <- (firstn_skipn l r) at 3. induction (firstn l r) as [|s x IH].
  - cbn [app]. change (keys (repeat 1%Z C :: skipn l r)) with (with_set (sum (repeat 1%Z C)) (keys (skipn l r))). now rewrite (sum_ones C L).
  - cbn [app]. change (keys (s :: x ++ repeat 1%Z C :: skipn l r)) with (with_set (sum s) (keys (x ++ repeat 1%Z C :: skipn l r))).
    rewrite IH. change (keys (s :: x ++ skipn l r)) with (with_set (sum s) (keys (x ++ skipn l r))). apply swap_sets.
Qed.
Definition A : atoms := inputs (L - 1).
Definition whole : R := IZR (2 * b) ^ (C * (L - 1)).
Lemma whole_positive : 0 < whole.
Proof. apply pow_lt, IZR_lt. lia. Qed.
Lemma mean_of_keys g : input_mean q C L (fun x => g (keys x)) = overk A g / whole.
Proof.
  assert (W := whole_positive). unfold input_mean. rewrite (below_ext L _ (fun _ => overk A g / whole)).
  - rewrite below_const. field. split; [lra | apply not_0_INR; lia].
  - intros l _. unfold A, whole. rewrite <- inputs_right.
    rewrite (sets_ext_signs q C q_range _ _ (fun r => g (with_set (Z.of_nat C) (keys r)))) by (intros; now rewrite keys_placed).
    unfold whole in W. field. lra.
Qed.

(** * The face *)

Notation y := (y C L nu).
Notation w := (weigh_down C L nu).
Notation K := (K C L).
Definition y' alpha (k : key) : R := 3 * K * alpha ^ 2 * IZR (kP k) + nu * INR (L * C) * IZR (kM k).
(** Minus the slope and minus the curvature of the face, times [whole]. *)
Definition lift alpha : R := overk A (fun k => y' alpha k * w alpha k).
Definition bend alpha : R := overk A (fun k => 6 * K * alpha * IZR (kP k) * w alpha k - w alpha k * (1 - w alpha k) * y' alpha k ^ 2).
Definition pulled alpha : R := overk A (fun k => (INR L * IZR (kP k) - IZR (kM k) * IZR (kQ k)) * w alpha k).
Definition k_at alpha : R := 3 * K * alpha ^ 3 / exp beta * (pulled alpha / whole).

Lemma face_is alpha : face q C L nu alpha = overk A (fun k => loss (y alpha k)) / whole.
Proof.
  rewrite <- mean_of_keys. apply (input_ext q C L q_range L_positive). intros x Hx. f_equal. now apply yF_even.
Qed.
Lemma y_derive alpha k : is_derive (fun a => y a k) alpha (y' alpha k).
Proof. unfold Ends.y, y'. auto_derive; [exact Logic.I | ring]. Qed.
Lemma w_derive alpha k : is_derive (fun a => w a k) alpha (- (w alpha k * (1 - w alpha k) * y' alpha k)).
Proof.
  assert (P := exp_pos (y alpha k)). replace (- (w alpha k * (1 - w alpha k) * y' alpha k)) with
    (y' alpha k * (- exp (y alpha k) / (1 + exp (y alpha k)) ^ 2)) by (unfold weigh_down; field; lra).
  apply (is_derive_comp (fun z => / (1 + exp z)) (fun a => y a k)); [|apply y_derive].
  auto_derive; [lra|]. field. lra.
Qed.
Lemma face_derive alpha : is_derive (face q C L nu) alpha (- lift alpha / whole).
Proof.
  apply (is_derive_ext (fun a => / whole * overk A (fun k => loss (y a k)))); [intros; rewrite face_is; apply Rmult_comm|].
  replace (- lift alpha / whole) with (/ whole * overk A (fun k => y' alpha k * - w alpha k)).
  - apply is_derive_scal. apply (overk_derive A (fun k a => loss (y a k))). intros k.
    apply (is_derive_comp loss (fun a => y a k)); [apply loss_derive | apply y_derive].
  - rewrite (overk_ext A _ (fun k => -1 * (y' alpha k * w alpha k))) by (intros; ring). rewrite overk_times. unfold lift, Rdiv. ring.
Qed.
Lemma lift_derive alpha : is_derive lift alpha (bend alpha).
Proof.
  apply (overk_derive A (fun k a => y' a k * w a k)). intros k.
  replace (6 * K * alpha * IZR (kP k) * w alpha k - w alpha k * (1 - w alpha k) * y' alpha k ^ 2) with
    (6 * K * alpha * IZR (kP k) * w alpha k + y' alpha k * - (w alpha k * (1 - w alpha k) * y' alpha k)) by ring.
  apply (is_derive_mult (fun a => y' a k) (fun a => w a k)); [| apply w_derive | intros; apply Rmult_comm].
  unfold y'. auto_derive; [exact Logic.I | ring].
Qed.
Lemma drift_at alpha : input_mean q C L (fun x => turns C L nu alpha x (even C) (push_end C L beta)) = k_at alpha.
Proof.
  unfold k_at, pulled. rewrite <- mean_of_keys, <- (input_times q C L q_range). apply (input_ext q C L q_range L_positive).
  intros x Hx. now apply turns_end.
Qed.
Lemma end_point alpha : 0 < alpha -> lift alpha = 0 -> bend alpha < 0 -> (forall a, 0 < a < alpha -> 0 < lift a) ->
  (forall a, alpha < a -> lift a < 0) -> End_point q C L nu beta alpha (k_at alpha).
Proof.
  intros pos Z B up down. assert (W := Rinv_0_lt_compat _ whole_positive).
  assert (S := fun al ga rh => risk_slope q C L nu beta q_range C_positive L_positive al ga rh).
  split; [exact pos|]. split; [|split; [|split]].
  - intros a'. apply (way_risk q C L nu beta C_positive L_positive (fun _ => a') (fun _ => beta) (fun r => r) a').
    + apply tends_const.
    + apply tends_const.
    + exact is_lim_exp_m.
  - exists (fun a => - lift a / whole), (- bend alpha / whole). unfold Rdiv.
    repeat match goal with |- _ /\ _ => split end.
    + apply face_derive.
    + apply (is_derive_ext (fun a => (- / whole) * lift a)); [intros t; change (- / whole * lift t = - lift t * / whole); ring|].
      replace (- bend alpha * / whole) with ((- / whole) * bend alpha) by ring. apply is_derive_scal, lift_derive.
    + nra.
    + intros a' H. generalize (up a' H). nra.
    + cbv beta. rewrite Z, Ropp_0. apply Rmult_0_l.
    + intros a' H. generalize (down a' H). nra.
  - intros al ga rh. eexists. apply S.
  - rewrite <- drift_at.
    apply (filterlim_ext (fun x => drift q C L nu beta (fst (fst x)) (snd (fst x)) (snd x))).
    + intros x. rewrite (is_derive_unique _ _ _ (S (fst (fst x)) (snd (fst x)) (snd x))). field. apply Rgt_not_eq, exp_pos.
    + apply (way_drift q C L nu beta C_positive L_positive (fun x => fst (fst x)) (fun x => snd (fst x)) snd alpha).
      * exact (filterlim_comp _ _ _ fst fst _ _ _ filterlim_fst filterlim_fst).
      * exact (filterlim_comp _ _ _ fst snd _ _ _ filterlim_fst filterlim_snd).
      * exact (filterlim_comp _ _ _ snd exp _ _ _ filterlim_snd is_lim_exp_m).
Qed.
End Law.

(** There is one such point at most. *)
Lemma one_end q C L nu beta alpha k alpha' k' : End_point q C L nu beta alpha k -> End_point q C L nu beta alpha' k' -> alpha = alpha' /\ k = k'.
Proof.
  intros [p [_ [[s [c [d [_ [_ [down [zero up]]]]]]] [_ joint]]]] [p' [_ [[s' [c' [d' [_ [_ [down' [zero' up']]]]]]] [_ joint']]]].
  assert (E : forall a, s a = s' a) by (intros a; rewrite <- (is_derive_unique _ _ _ (d a)); now apply is_derive_unique).
  assert (A : alpha = alpha').
  { destruct (Rtotal_order alpha alpha') as [H | [H | H]]; [exfalso | exact H | exfalso].
    - specialize (down' alpha (conj p H)). rewrite <- E, zero in down'. lra.
    - specialize (down alpha' (conj p' H)). rewrite E, zero' in down. lra. }
  split; [exact A|]. subst alpha'. exact (filterlim_locally_unique _ _ _ joint joint').
Qed.

(** * The rate at which strangers go *)
Section Rate.
Variables (q : R) (C L : nat) (nu beta alpha k : R).
Hypothesis C_positive : (1 <= C)%nat.
Hypothesis L_size : (2 <= L)%nat.
Hypothesis point : End_point q C L nu beta alpha k.
Hypothesis k_positive : 0 < k.
Notation D := (L * C)%nat.

Lemma entries_positive : 0 < INR D * (INR D - INR C).
Proof. rewrite mult_INR. apply le_INR in C_positive, L_size. cbn in C_positive, L_size. apply Rmult_lt_0_compat; nra. Qed.
Lemma rate : Like_one_over_t q C L nu beta alpha k.
Proof.
  intros eta al ga rh E steps A B down. assert (P := entries_positive). set (N := INR D * (INR D - INR C)) in *.
  replace (ln (N / (eta * k))) with (- ln (eta / N * k)).
  - apply like_one_over_t; [|exact down|].
    + apply Rmult_lt_0_compat; [now apply Rdiv_lt_0_compat | exact k_positive].
    + apply (is_lim_seq_ext (fun t => eta / N * (Derive (risk_at q C L nu beta (al t) (ga t)) (rh t) / exp (rh t)))).
      * intros t. rewrite steps. fold N. field. split; first [lra | apply Rgt_not_eq, exp_pos].
      * apply is_lim_seq_mult'; [apply is_lim_seq_const|]. destruct point as [_ [_ [_ [_ joint]]]].
        apply (filterlim_comp _ _ _ (fun t => (al t, ga t, rh t)) _ _ _ _ (filterlim_pair _ _ (filterlim_pair _ _ A B) down) joint).
  - rewrite <- ln_Rinv by (apply Rmult_lt_0_compat; [now apply Rdiv_lt_0_compat | exact k_positive]). f_equal. field. repeat split; lra.
Qed.

(** What it asks can be met: from far down rho sinks, with alpha and gamma where they end. *)
Lemma met eta : 0 < eta -> exists rh, descends q C L nu beta eta (fun _ => alpha) (fun _ => beta) rh /\ is_lim_seq rh m_infty.
Proof.
  intros E. assert (P := entries_positive). destruct point as [_ [_ [_ [_ joint]]]]. set (c := eta / (INR D * (INR D - INR C))) in *.
  assert (c0 : 0 < c) by now apply Rdiv_lt_0_compat.
  set (f := Derive (risk_at q C L nu beta alpha beta)).
  assert (J : exists r0, forall r, r < r0 -> k / 2 * exp r < f r).
  { destruct (proj1 (filterlim_locally _ _) joint (mkposreal (k / 2) ltac:(lra))) as [Q R' HQ [M HM] H].
    destruct HQ as [Q1 Q2 H1 H2 HQ]. exists M. intros r Hr.
    specialize (H (alpha, beta) r (HQ _ _ (locally_singleton _ _ H1) (locally_singleton _ _ H2)) (HM r Hr)). cbn [fst snd] in H.
    apply Rabs_lt_between in H. fold f in H. unfold minus, plus, opp in H. cbn in H.
    apply (Rmult_lt_reg_r (/ exp r)); [apply Rinv_0_lt_compat, exp_pos|]. rewrite Rmult_assoc, Rinv_r by apply Rgt_not_eq, exp_pos.
    unfold Rdiv in H. lra. }
  destruct J as [r0 J]. set (rh := sunk (fun r => r - c * f r) (r0 - 1)). exists rh. split; [intros t; reflexivity|].
  assert (low : forall t, rh t < r0).
  { induction t as [|t IH]; [cbn; lra|]. change (rh t - c * f (rh t) < r0). specialize (J _ IH).
    assert (X := Rmult_lt_0_compat (k / 2) _ ltac:(lra) (exp_pos (rh t))). nra. }
  apply (sinks rh (c * (k / 2))); [apply Rmult_lt_0_compat; lra|]. intros t. change (rh t - c * f (rh t) <= rh t - c * (k / 2) * exp (rh t)).
  generalize (Rmult_lt_compat_l c _ _ c0 (J _ (low t))). lra.
Qed.
End Rate.

(** * In ball arithmetic, for nu = n / d and an integer diagonal *)
Section Compute.
Variables (a b n d diagonal : Z) (C L : nat) (prec : F.precision).
Hypothesis b_positive : (0 < b)%Z.
Hypothesis d_positive : (0 < d)%Z.
Hypothesis C_positive : (1 <= C)%nat.
Hypothesis L_size : (2 <= L)%nat.
Let L_positive : (1 <= L)%nat := Nat.lt_le_incl 1 L L_size.
Let nu := IZR n / IZR d.
Notation add := (I.add prec). Notation sub := (I.sub prec). Notation mul := (I.mul prec). Notation Zb := (ofZ prec).
Notation y := (y C L nu). Notation w := (weigh_down C L nu).

Definition cK : Z := (Z.of_nat C * Z.of_nat L ^ 3)%Z.
Definition cD : Z := Z.of_nat (L * C).
Definition nuD : I.type := ofQ prec (n * cD) d.
Definition slope_ball (X3 X1 : I.type) (k : key) : I.type := logistic prec (add (mul X3 (Zb (kP k))) (mul X1 (Zb (kM k)))).
Definition entries : Type := list (key * Z * I.type).
Definition slopes (l : atoms) (X : I.type) : entries :=
  let X3 := mul (Zb cK) (mul X (mul X X)) in let X1 := mul nuD X in map (fun e => (e, slope_ball X3 X1 (fst e))) l.
Fixpoint sum_ball (f : key -> Z) (t : entries) : I.type :=
  match t with [] => Zb 0 | (k, c, W) :: t => add (mul (Zb (c * f k)) W) (sum_ball f t) end.
Fixpoint square_ball (Y2 : I.type) (t : entries) : I.type :=
  match t with
  | [] => Zb 0
  | (k, c, W) :: t => let Y := add (mul Y2 (Zb (kP k))) (mul nuD (Zb (kM k))) in
    add (mul (Zb c) (mul (mul W (sub (Zb 1) W)) (mul Y Y))) (square_ball Y2 t)
  end.
Definition lift_ball l X := let t := slopes l X in
  add (mul (mul (Zb (3 * cK)) (mul X X)) (sum_ball kP t)) (mul nuD (sum_ball kM t)).
Definition bend_ball l X := let t := slopes l X in
  sub (mul (mul (Zb (6 * cK)) X) (sum_ball kP t)) (square_ball (mul (Zb (3 * cK)) (mul X X)) t).
Definition k_ball l X := let t := slopes l X in
  mul (I.div prec (mul (Zb (3 * cK)) (mul X (mul X X))) (I.exp prec (Zb diagonal)))
    (I.div prec (sum_ball (fun k => Z.of_nat L * kP k - kM k * kQ k)%Z t) (Zb ((2 * b) ^ Z.of_nat (C * (L - 1))))).

Lemma K_is : K C L = IZR cK.
Proof. unfold K, cK. rewrite mult_IZR, <- (pow_IZR _ 3), <- !INR_IZR_INZ. reflexivity. Qed.
Lemma in_nuD : (nu * INR (L * C)) \in nuD.
Proof.
  replace (nu * INR (L * C)) with (IZR (n * cD) / IZR d); [apply in_Q; lia|].
  unfold nu, cD. rewrite mult_IZR, <- INR_IZR_INZ. field. apply not_0_IZR. lia.
Qed.
Lemma in_slope alpha X k : alpha \in X ->
  w alpha k \in slope_ball (mul (Zb cK) (mul X (mul X X))) (mul nuD X) k.
Proof.
  intros H. unfold weigh_down, Ends.y. apply in_logistic. apply in_add; apply in_mul; try apply in_Z.
  - rewrite K_is. replace (alpha ^ 3) with (alpha * (alpha * alpha)) by ring. repeat (apply in_mul; try assumption). apply in_Z.
  - apply in_mul; [exact in_nuD | exact H].
Qed.
Lemma in_sum f l alpha X : alpha \in X -> overk l (fun k => IZR (f k) * w alpha k) \in sum_ball f (slopes l X).
Proof.
  intros H. unfold slopes. cbv zeta. induction l as [|[k c] l IH]; cbn [map sum_ball overk fst]; [apply in_Z|].
  rewrite <- Rmult_assoc, <- mult_IZR. apply in_add; [apply in_mul; [apply in_Z | now apply in_slope] | exact IH].
Qed.
Lemma in_y' alpha X k : alpha \in X -> y' C L nu alpha k \in add (mul (mul (Zb (3 * cK)) (mul X X)) (Zb (kP k))) (mul nuD (Zb (kM k))).
Proof.
  intros H. unfold y'. apply in_add; apply in_mul; try apply in_Z; [|exact in_nuD].
  rewrite K_is, <- mult_IZR. replace (alpha ^ 2) with (alpha * alpha) by ring. repeat (apply in_mul; try assumption). apply in_Z.
Qed.
Lemma in_squares l alpha X : alpha \in X ->
  overk l (fun k => w alpha k * (1 - w alpha k) * y' C L nu alpha k ^ 2) \in square_ball (mul (Zb (3 * cK)) (mul X X)) (slopes l X).
Proof.
  intros H. unfold slopes. cbv zeta. induction l as [|[k c] l IH]; cbn [map square_ball overk fst]; [apply in_Z|].
  cbv zeta. apply in_add; [|exact IH]. apply in_mul; [apply in_Z|].
  replace (y' C L nu alpha k ^ 2) with (y' C L nu alpha k * y' C L nu alpha k) by ring. apply in_mul; [|apply in_mul; now apply in_y'].
  apply in_mul; [now apply in_slope|]. apply in_sub; [apply in_Z | now apply in_slope].
Qed.
Notation A := (A a b C L).
Notation lift := (lift a b C L nu).
Lemma lift_is alpha : lift alpha = 3 * K C L * alpha ^ 2 * overk A (fun k => IZR (kP k) * w alpha k)
  + nu * INR (L * C) * overk A (fun k => IZR (kM k) * w alpha k).
Proof.
  unfold Ends.lift. rewrite <- !overk_times, <- overk_plus. apply overk_ext. intros k. unfold y'. ring.
Qed.
Lemma in_lift alpha X : alpha \in X -> lift alpha \in lift_ball A X.
Proof.
  intros H. rewrite lift_is. unfold lift_ball. cbv zeta. apply in_add; apply in_mul; try (now apply in_sum); [|exact in_nuD].
  rewrite K_is, <- mult_IZR. replace (alpha ^ 2) with (alpha * alpha) by ring. repeat (apply in_mul; try assumption). apply in_Z.
Qed.
Lemma in_bend alpha X : alpha \in X -> bend a b C L nu alpha \in bend_ball A X.
Proof.
  intros H. unfold bend, bend_ball. cbv zeta.
  rewrite (overk_ext A _ (fun k => 6 * K C L * alpha * (IZR (kP k) * w alpha k) + -1 * (w alpha k * (1 - w alpha k) * y' C L nu alpha k ^ 2)))
    by (intros; ring).
  rewrite overk_plus, !overk_times. match goal with |- (?s + -1 * ?t) \in _ => replace (s + -1 * t) with (s - t) by ring end.
  apply in_sub; [|now apply in_squares]. apply in_mul; [|now apply in_sum].
  rewrite K_is, <- mult_IZR. apply in_mul; [apply in_Z | exact H].
Qed.
Lemma in_k alpha X : alpha \in X -> k_at a b C L nu (IZR diagonal) alpha \in k_ball A X.
Proof.
  intros H. unfold k_at, k_ball. cbv zeta. apply in_mul.
  - apply in_div; [generalize (exp_pos (IZR diagonal)); lra | | apply in_exp, in_Z].
    rewrite K_is, <- mult_IZR. replace (alpha ^ 3) with (alpha * (alpha * alpha)) by ring. repeat (apply in_mul; try assumption). apply in_Z.
  - assert (W : whole b C L = IZR ((2 * b) ^ Z.of_nat (C * (L - 1)))) by (unfold whole; apply pow_IZR).
    rewrite W. apply in_div; [rewrite <- W; apply Rgt_not_eq, whole_positive; lia | | apply in_Z].
    unfold pulled. rewrite (overk_ext A _ (fun k => IZR (Z.of_nat L * kP k - kM k * kQ k) * w alpha k)); [now apply in_sum|].
    intros k. rewrite minus_IZR, !mult_IZR, <- INR_IZR_INZ. ring.
Qed.

(** Below: the face falls on every piece from 0 / m on. *)
Fixpoint falls_on l (m from : Z) (ends : list Z) : bool :=
  match ends with [] => true | e :: r => positive (lift_ball l (between prec from e m)) && falls_on l m e r end.
Fixpoint end_of (from : Z) (ends : list Z) : Z := match ends with [] => from | e :: r => end_of e r end.
Lemma falls_on_right m from ends : (m <> 0)%Z -> falls_on A m from ends = true ->
  forall alpha, IZR from / IZR m < alpha <= IZR (end_of from ends) / IZR m -> 0 < lift alpha.
Proof.
  intros N. revert from. induction ends as [|e r IH]; intros from H alpha I; [cbn [end_of] in I; lra|].
  cbn [falls_on] in H. apply Bool.andb_true_iff in H. destruct H as [P H].
  destruct (Rle_lt_dec alpha (IZR e / IZR m)) as [le | gt].
  - apply is_positive with (2 := P). apply in_lift, in_between; [exact N | lra].
  - apply (IH e H). split; [exact gt | exact (proj2 I)].
Qed.

(** Above: for all alpha >= z / m at once. y moves away from zero, so w P falls; and w M is at most as written. *)
Definition counted (k : key) : Z := if ((0 <? kP k)%Z && (0 <? kM k)%Z)%bool then kM k else 0%Z.
Definition fully (k : key) : Z := if ((kP k <=? 0)%Z && (0 <? kM k)%Z)%bool then kM k else 0%Z.
Definition whole_count (l : atoms) : Z := fold_right (fun e s => snd e * fully (fst e) + s)%Z 0%Z l.
Definition rises_beyond l (m z : Z) : bool :=
  let X := ofQ prec z m in let t := slopes l X in
  (0 <? z)%Z && (0 <=? n)%Z && weighted l
  && forallb (fun e => 0 <=? kP (fst e) * (3 * cK * z ^ 2 * d * kP (fst e) + n * cD * m ^ 2 * kM (fst e)))%Z l
  && negative (add (mul (mul (Zb (3 * cK)) (mul X X)) (sum_ball kP t)) (mul nuD (add (sum_ball counted t) (Zb (whole_count l))))).
Lemma w_range alpha k : 0 < w alpha k <= 1.
Proof.
  unfold weigh_down. assert (P := exp_pos (y alpha k)). split; [apply Rinv_0_lt_compat; lra|].
  rewrite <- Rinv_1. apply Rinv_le_contravar; lra.
Qed.
Lemma w_falls alpha alpha' k : y alpha k <= y alpha' k -> w alpha' k <= w alpha k.
Proof.
  intros H. unfold weigh_down. apply Rinv_le_contravar; [generalize (exp_pos (y alpha k)); lra|].
  apply Rplus_le_compat_l. destruct H as [H | ->]; [left; now apply exp_increasing | lra].
Qed.
Lemma y_away z alpha k : 0 < z -> z <= alpha -> 0 <= IZR (kP k) * y' C L nu z k -> 0 <= IZR (kP k) * (y alpha k - y z k).
Proof.
  intros Hz Ha H. unfold Ends.y, y' in *. assert (K0 : 0 <= K C L) by (unfold K; apply Rmult_le_pos; [|apply pow_le]; apply pos_INR).
  set (P := IZR (kP k)) in *. set (M := nu * INR (L * C) * IZR (kM k)) in *.
  replace (P * (K C L * alpha ^ 3 * P + nu * INR (L * C) * alpha * IZR (kM k) - (K C L * z ^ 3 * P + nu * INR (L * C) * z * IZR (kM k))))
    with ((alpha - z) * (P * (3 * K C L * z ^ 2 * P + M) + K C L * P ^ 2 * ((alpha - z) * (alpha + 2 * z)))) by (unfold M; ring).
  apply Rmult_le_pos; [lra|]. apply Rplus_le_le_0_compat; [exact H|]. apply Rmult_le_pos.
  - apply Rmult_le_pos; [exact K0 | apply pow2_ge_0].
  - apply Rmult_le_pos; lra.
Qed.
Lemma rises_beyond_right m z alpha : (0 < m)%Z -> rises_beyond A m z = true -> IZR z / IZR m <= alpha -> lift alpha < 0.
Proof.
  intros Hm H Ha. unfold rises_beyond in H. cbv zeta in H. rewrite !Bool.andb_true_iff in H.
  destruct H as [[[[Hz Hn] Hw] Hf] Hs]. apply Z.ltb_lt, IZR_lt in Hz. apply Z.leb_le, IZR_le in Hn. rewrite forallb_forall in Hf.
  apply IZR_lt in Hm. assert (Hd : 0 < IZR d) by now apply IZR_lt. set (z0 := IZR z / IZR m) in *.
  assert (z1 : 0 < z0) by now apply Rdiv_lt_0_compat.
  assert (D0 : 0 <= nu * INR (L * C)) by (apply Rmult_le_pos; [apply Rdiv_le_0_compat; assumption | apply pos_INR]).
  set (S := overk A (fun k => IZR (kP k) * w z0 k)). set (B := overk A (fun k => IZR (counted k) * w z0 k) + IZR (whole_count A)).
  assert (N : 3 * K C L * z0 ^ 2 * S + nu * INR (L * C) * B < 0).
  { apply is_negative with (2 := Hs). assert (I : z0 \in ofQ prec z m) by (apply in_Q; intros ->; lra).
    apply in_add; apply in_mul; try exact in_nuD.
    - rewrite K_is, <- mult_IZR. replace (z0 ^ 2) with (z0 * z0) by ring. repeat (apply in_mul; try assumption). apply in_Z.
    - now apply in_sum.
    - apply in_add; [now apply in_sum | apply in_Z]. }
  assert (E : forall e, In e A -> 0 <= IZR (kP (fst e)) * (y alpha (fst e) - y z0 (fst e))).
  { intros [k c] He. apply y_away; [exact z1 | exact Ha|]. specialize (Hf _ He). apply Z.leb_le, IZR_le in Hf. cbn [fst] in *.
    unfold y'. rewrite K_is. unfold nu, z0. rewrite INR_IZR_INZ. fold cD.
    replace (IZR (kP k) * (3 * IZR cK * (IZR z / IZR m) ^ 2 * IZR (kP k) + IZR n / IZR d * IZR cD * IZR (kM k))) with
      (IZR (kP k * (3 * cK * z ^ 2 * d * kP k + n * cD * m ^ 2 * kM k)) / (IZR d * IZR m ^ 2)).
    - apply Rdiv_le_0_compat; [exact Hf|]. apply Rmult_lt_0_compat; [exact Hd | now apply pow_lt].
    - rewrite !mult_IZR, plus_IZR, !mult_IZR, <- !(pow_IZR _ 2). field. lra. }
  assert (E' : forall e, In e A -> (0 < IZR (kP (fst e)) -> w alpha (fst e) <= w z0 (fst e))
    /\ (IZR (kP (fst e)) < 0 -> w z0 (fst e) <= w alpha (fst e))).
  { intros e He. specialize (E e He). split; intros P; apply w_falls; nra. }
  assert (S1 : overk A (fun k => IZR (kP k) * w alpha k) <= S).
  { apply overk_le; [exact Hw|]. intros e He. destruct (E' e He) as [E1 E2].
    destruct (Rtotal_order (IZR (kP (fst e))) 0) as [P | [P | P]]; [specialize (E2 P); nra | rewrite P; lra | specialize (E1 P); nra]. }
  assert (B1 : overk A (fun k => IZR (kM k) * w alpha k) <= B).
  { unfold B. replace (IZR (whole_count A)) with (overk A (fun k => IZR (fully k))).
    - rewrite <- overk_plus. apply overk_le; [exact Hw|]. intros e He. destruct (E' e He) as [E1 _].
      generalize (w_range alpha (fst e)), (w_range z0 (fst e)). intros [w1 w2] [w3 w4]. unfold counted, fully.
      destruct (Z.ltb_spec 0 (kM (fst e))) as [m0 | m0]; rewrite ?Bool.andb_true_r, ?Bool.andb_false_r.
      + apply IZR_lt in m0. destruct (Z.ltb_spec 0 (kP (fst e))) as [p0 | p0].
        * apply IZR_lt in p0. destruct (Z.leb_spec (kP (fst e)) 0) as [p1 | p1]; [apply IZR_le in p1; lra|]. specialize (E1 p0). nra.
        * destruct (Z.leb_spec (kP (fst e)) 0) as [p1 | p1]; [nra | lia].
      + apply IZR_le in m0. nra.
    - clear. unfold whole_count. induction A as [|[k c] l IH]; [reflexivity|]. cbn [overk fold_right fst snd].
      now rewrite IH, plus_IZR, mult_IZR. }
  assert (B0 : 0 <= B).
  { unfold B. apply Rplus_le_le_0_compat.
    - apply Rle_trans with (overk A (fun _ => 0 * 0)); [rewrite (overk_times A 0 (fun _ => 0)); lra|]. apply overk_le; [exact Hw|].
      intros e _. rewrite Rmult_0_l. apply Rmult_le_pos; [|generalize (w_range z0 (fst e)); lra]. unfold counted.
      destruct (_ && _)%bool eqn:G; [|lra]. apply Bool.andb_true_iff in G. destruct G as [_ G]. apply Z.ltb_lt in G. apply IZR_le. lia.
    - apply IZR_le. clear -Hw. unfold whole_count. induction A as [|[k c] l IH]; [apply Z.le_refl|].
      cbn [weighted forallb snd] in Hw. apply Bool.andb_true_iff in Hw. destruct Hw as [W0 W]. apply Z.leb_le in W0. specialize (IH W).
      cbn [fold_right fst snd]. enough (0 <= fully k)%Z by nia. unfold fully. destruct (_ && _)%bool eqn:G; [|lia].
      apply Bool.andb_true_iff in G. destruct G as [_ G]. apply Z.ltb_lt in G. lia. }
  assert (K0 : 0 <= K C L) by (unfold K; apply Rmult_le_pos; [|apply pow_le]; apply pos_INR).
  assert (Q : z0 ^ 2 <= alpha ^ 2) by nra. rewrite lift_is.
  assert (S0 : K C L * S <= 0).
  { destruct (Rle_lt_dec (K C L * S) 0) as [|P]; [assumption|]. exfalso. assert (0 <= z0 ^ 2) by apply pow2_ge_0. nra. }
  assert (X1 : K C L * alpha ^ 2 * overk A (fun k => IZR (kP k) * w alpha k) <= K C L * alpha ^ 2 * S).
  { apply Rmult_le_compat_l; [|exact S1]. apply Rmult_le_pos; [exact K0 | apply pow2_ge_0]. }
  assert (X2 : K C L * alpha ^ 2 * S <= K C L * z0 ^ 2 * S) by nra.
  assert (X3 : nu * INR (L * C) * overk A (fun k => IZR (kM k) * w alpha k) <= nu * INR (L * C) * B) by now apply Rmult_le_compat_l.
  nra.
Qed.

(** The checker. The pieces end at [ends] / m, the last of which lies below the bracket x / m, x' / m of the zero;
    between it and z / m the face is convex. *)
Definition ends_at (m : Z) (ends : list Z) (x x' z : Z) (low high unit low' high' unit' : Z) : bool :=
  let l := A in let from := end_of 0 ends in let at_end := between prec x x' m in
  (0 <=? a)%Z && (a <=? b)%Z && (0 <? m)%Z && (0 <? unit)%Z && (0 <? unit')%Z
  && (0 <=? low')%Z && (0 <? x)%Z && (from <? x)%Z && (x <? x')%Z && (x' <? z)%Z && (low * m <? x * unit)%Z && (x' * unit <? high * m)%Z
  && falls_on l m 0 ends && positive (lift_ball l (ofQ prec x m)) && negative (lift_ball l (ofQ prec x' m))
  && negative (bend_ball l (between prec from z m)) && rises_beyond l m z
  && positive (sub (k_ball l at_end) (ofQ prec low' unit')) && negative (sub (k_ball l at_end) (ofQ prec high' unit')).

Lemma less m s t : (0 < m)%Z -> (s < t)%Z -> IZR s / IZR m < IZR t / IZR m.
Proof. intros M H. apply Rmult_lt_compat_r; [now apply Rinv_0_lt_compat, IZR_lt | now apply IZR_lt]. Qed.
Lemma less_cross m m' s t : (0 < m)%Z -> (0 < m')%Z -> (s * m' < t * m)%Z -> IZR s / IZR m < IZR t / IZR m'.
Proof.
  intros M M' H. apply IZR_lt in M, M', H. rewrite !mult_IZR in H. apply (Rmult_lt_reg_r (IZR m * IZR m')); [nra|].
  replace (IZR s / IZR m * (IZR m * IZR m')) with (IZR s * IZR m') by (field; lra).
  replace (IZR t / IZR m' * (IZR m * IZR m')) with (IZR t * IZR m) by (field; lra). exact H.
Qed.
Lemma ends_right m ends x x' z low high unit low' high' unit' :
  ends_at m ends x x' z low high unit low' high' unit' = true ->
  Ends (IZR a / IZR b) C L nu (IZR diagonal) (IZR low / IZR unit) (IZR high / IZR unit) (IZR low' / IZR unit') (IZR high' / IZR unit').
Proof.
  unfold ends_at. cbv zeta. rewrite !Bool.andb_true_iff.
  intros [[[[[[[[[[[[[[[[[[Q0 Q1] M] U] U'] Low] X0] F] X] Z'] Lo] Hi] Fall] P] N] Bend] Rise] K1] K2].
  apply Z.leb_le in Q0, Q1, Low. apply Z.ltb_lt in M, U, U', X0, F, X, Z', Lo, Hi. set (from := end_of 0 ends) in *.
  assert (Q : 0 <= IZR a / IZR b <= 1) by now apply q_range.
  assert (m0 : m <> 0%Z) by lia.
  assert (f := less m from x M F). assert (g := less m x x' M X). assert (h := less m x' z M Z').
  assert (l0 := less_cross unit m low x U M Lo). assert (h0 := less_cross m unit x' high M U Hi).
  assert (p : 0 < lift (IZR x / IZR m)) by (apply is_positive with (2 := P); now apply in_lift, in_Q).
  assert (n' : lift (IZR x' / IZR m) < 0) by (apply is_negative with (2 := N); now apply in_lift, in_Q).
  assert (cont : continuity lift).
  { intros t. apply continuity_pt_filterlim, (ex_derive_continuous (V := R_NormedModule) lift t). eexists. apply lift_derive. }
  destruct (IVT_cor lift _ _ cont (Rlt_le _ _ g)) as [alpha [I zero]]; [nra|].
  assert (bent : forall t, IZR from / IZR m <= t <= IZR z / IZR m -> bend a b C L nu t < 0).
  { intros t T. apply is_negative with (2 := Bend). now apply in_bend, in_between. }
  assert (down : forall s t, IZR from / IZR m <= s -> s < t -> t <= IZR z / IZR m -> lift t < lift s).
  { intros s t S T E. destruct (MVT_gen lift s t (bend a b C L nu)) as [c [Hc D]].
    - intros c _. apply lift_derive.
    - intros c _. apply cont.
    - rewrite Rmin_left, Rmax_right in Hc by lra. generalize (bent c ltac:(lra)). nra. }
  set (k := k_at a b C L nu (IZR diagonal) alpha).
  assert (K : IZR low' / IZR unit' < k < IZR high' / IZR unit').
  { assert (J : k \in k_ball A (between prec x x' m)) by now apply in_k, in_between.
    split; [apply Rminus_gt_0_lt; apply is_positive with (2 := K1) | apply Rminus_lt; apply is_negative with (2 := K2)];
      (apply in_sub; [exact J | apply in_Q; lia]). }
  assert (k0 : 0 <= IZR low' / IZR unit') by (apply Rdiv_le_0_compat; [now apply IZR_le | now apply IZR_lt]).
  assert (point : End_point (IZR a / IZR b) C L nu (IZR diagonal) alpha k).
  { assert (x0 : 0 < IZR x / IZR m) by now apply Rdiv_lt_0_compat; apply IZR_lt.
    apply end_point; try assumption.
    - lra.
    - apply bent. lra.
    - intros t T. destruct (Rle_lt_dec t (IZR from / IZR m)) as [le | gt].
      + apply (falls_on_right m 0 ends m0 Fall). fold from. unfold Rdiv at 1. rewrite Rmult_0_l. split; [apply T | exact le].
      + rewrite <- zero. apply down; lra.
    - intros t T. destruct (Rle_lt_dec t (IZR z / IZR m)) as [le | gt].
      + rewrite <- zero. apply down; lra.
      + apply (rises_beyond_right m z); [exact M | exact Rise | lra]. }
  exists alpha, k. split; [exact point|]. split; [apply rate; try assumption; lra|]. split; [lra | exact K].
Qed.
End Compute.

(** A run that comes to such a point, and how. *)
Lemma run_met q C L nu beta low high low' high' : (1 <= C)%nat -> (2 <= L)%nat -> 0 <= low' -> Ends q C L nu beta low high low' high' ->
  exists alpha k rh, low < alpha < high /\ low' < k < high' /\ descends q C L nu beta 1 (fun _ => alpha) (fun _ => beta) rh /\
    is_lim_seq (fun t => rh t + ln (INR t)) (ln (INR (L * C) * (INR (L * C) - INR C) / (1 * k))).
Proof.
  intros Hc Hl H0 [alpha [k [P [R' [A K]]]]]. destruct (met q C L nu beta alpha k Hc Hl P ltac:(lra) 1 ltac:(lra)) as [rh [S D]].
  exists alpha, k, rh. repeat split; try tauto. apply (R' 1 (fun _ => alpha) (fun _ => beta) rh); try assumption; try lra; apply is_lim_seq_const.
Qed.
