(** The first move: who wins at equal scores, for nu = 0.

    What is claimed is [Companions_win] and [Companions_lose]; a reader has to read no further than that. *)
From Coq Require Import Reals ZArith List Lra Lia.
From Book Require Import Ball.
Import ListNotations.
Open Scope R_scope.

(** * The claim *)

(** The mean of g (s) over a random patch: s = 1 and s = -1 with chance q/2 each, else 0. *)
Definition patch (q : R) (g : Z -> R) : R := (1 - q) * g 0%Z + q / 2 * g 1%Z + q / 2 * g (-1)%Z.

(** The mean of g (m + s_1 + ... + s_n) over n independent random patches. *)
Fixpoint patches (q : R) (n : nat) (g : Z -> R) (m : Z) : R :=
  match n with
  | O => g m
  | S k => patch q (fun s => patches q k g (m + s))
  end.

(** w = 1 / (1 + exp (u M^p)), u = D alpha^p; p = 2 k + 1. *)
Definition w (k : Z) (u : R) (m : Z) : R := / (1 + exp (u * IZR (m ^ (2 * k + 1)))).

(** E[w M^p], which is zero at the best alpha, and Delta = E[w M^(p-2) (1 - s_a) (1 - s_b)]. The vote M
    is C plus the sum of the n = D - C random patches, of which a and b are two. *)
Definition f k q (n : nat) C u := patches q n (fun m => w k u m * IZR (m ^ (2 * k + 1))) C.
Definition Delta k q (n : nat) C u :=
  patch q (fun a => patch q (fun b => IZR (1 - a) * IZR (1 - b) *
    patches q (n - 2) (fun m => w k u m * IZR (m ^ (2 * k - 1))) (C + a + b))).

(** f falls: f u >= 0 is alpha <= alpha*, f u > 0 is alpha < alpha*. They win at every alpha up to alpha*, or
    they lose from some alpha below alpha* on. *)
Definition Companions_win k q n C := forall u, 0 <= f k q n C u -> 0 < Delta k q n C u.
Definition Companions_lose k q n C := exists v, 0 < f k q n C v /\ forall u, v <= u -> Delta k q n C u < 0.

(** * The proof: both fall in u, so signs at one u are enough *)

Lemma falls u v x y : u <= v -> 0 <= x * y -> y * / (1 + exp (v * x)) <= y * / (1 + exp (u * x)).
Proof.
  intros uv xy. generalize (exp_pos (u * x)), (exp_pos (v * x)). intros pu pv.
  assert (K : forall s t, s <= t -> exp s <= exp t).
  { intros s t [H | ->]; [left; now apply exp_increasing | right; reflexivity]. }
  destruct (Rtotal_order y 0) as [n | [-> | p]]; [| lra |].
  - apply Rmult_le_compat_neg_l; [lra|]. apply Rinv_le_contravar; [lra|].
    apply Rplus_le_compat_l, K. nra.
  - apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; [lra|].
    apply Rplus_le_compat_l, K. nra.
Qed.

Lemma signs (m a b : Z) : (0 <= a)%Z -> (0 <= b)%Z -> 0 <= IZR (m ^ (2 * a + 1)) * IZR (m ^ (2 * b + 1)).
Proof.
  intros A B. rewrite <- mult_IZR. apply IZR_le. rewrite <- Z.pow_add_r by lia.
  replace (2 * a + 1 + (2 * b + 1))%Z with ((a + b + 1) * 2)%Z by ring.
  rewrite Z.pow_mul_r by lia. apply Z.pow_even_nonneg. now exists 1%Z.
Qed.

Lemma patch_le q g h : 0 <= q <= 1 -> (forall s, (s <= 1)%Z -> g s <= h s) -> patch q g <= patch q h.
Proof.
  intros Q H. unfold patch. generalize (H 0%Z ltac:(lia)), (H 1%Z ltac:(lia)), (H (-1)%Z ltac:(lia)). nra.
Qed.
Lemma patches_le q n g h m : 0 <= q <= 1 -> (forall m, g m <= h m) -> patches q n g m <= patches q n h m.
Proof.
  intros Q H. revert m. induction n as [|n IH]; intro m; simpl; [apply H|].
  apply patch_le; [exact Q | intros; apply IH].
Qed.

Lemma f_falls k q n C u v : (1 <= k)%Z -> 0 <= q <= 1 -> u <= v -> f k q n C v <= f k q n C u.
Proof.
  intros K Q H. apply patches_le; [exact Q|]. intros m. unfold w. rewrite 2!(Rmult_comm (/ _)).
  apply falls; [exact H|]. apply signs; lia.
Qed.
Lemma Delta_falls k q n C u v : (1 <= k)%Z -> 0 <= q <= 1 -> u <= v -> Delta k q n C v <= Delta k q n C u.
Proof.
  intros K Q H. apply patch_le; [exact Q|]. intros a A. apply patch_le; [exact Q|]. intros b B.
  apply Rmult_le_compat_l.
  - apply Rmult_le_pos; apply IZR_le; lia.
  - apply patches_le; [exact Q|]. intros m. unfold w. rewrite 2!(Rmult_comm (/ _)).
    apply falls; [exact H|]. replace (2 * k - 1)%Z with (2 * (k - 1) + 1)%Z by ring. apply signs; lia.
Qed.

Lemma win_by_one_sign k q n C u : (1 <= k)%Z -> 0 <= q <= 1 ->
  f k q n C u < 0 -> 0 < Delta k q n C u -> Companions_win k q n C.
Proof.
  intros K Q F G v V. destruct (Rle_lt_dec u v) as [H | H].
  - generalize (f_falls k q n C u v K Q H). lra.
  - generalize (Delta_falls k q n C v u K Q (Rlt_le _ _ H)). lra.
Qed.
Lemma lose_by_one_sign k q n C u : (1 <= k)%Z -> 0 <= q <= 1 ->
  0 < f k q n C u -> Delta k q n C u < 0 -> Companions_lose k q n C.
Proof.
  intros K Q F G. exists u. split; [exact F|]. intros v V. generalize (Delta_falls k q n C u v K Q V). lra.
Qed.

(** The claim of a win is not empty: f u >= 0 at u = 0, the start of every run, as R and - R have one law. *)
Lemma patch_turned q g : patch q g = patch q (fun s => g (- s)%Z).
Proof. unfold patch. change (- 0)%Z with 0%Z. change (- -1)%Z with 1%Z. change (- (1))%Z with (-1)%Z. ring. Qed.
Lemma patch_ext q g h : (forall s, g s = h s) -> patch q g = patch q h.
Proof. intros H. unfold patch. now rewrite !H. Qed.
Lemma patches_turned q n g c m : patches q n g (c + m) = patches q n (fun x => g (2 * c - x)%Z) (c - m).
Proof.
  revert m. induction n as [|n IH]; intros m; cbn [patches]; [f_equal; ring|].
  rewrite patch_turned. apply patch_ext. intros s.
  replace (c + m + - s)%Z with (c + (m - s))%Z by ring. rewrite IH. f_equal. ring.
Qed.
Lemma patches_plus q n g h m : patches q n (fun x => g x + h x) m = patches q n g m + patches q n h m.
Proof.
  revert m. induction n as [|n IH]; intros m; cbn [patches]; [reflexivity|]. unfold patch. rewrite !IH. ring.
Qed.
Lemma odd_pair (k c m : Z) : (0 <= k)%Z -> (0 <= c)%Z -> (0 <= (c + m) ^ (2 * k + 1) + (c - m) ^ (2 * k + 1))%Z.
Proof.
  intros K C. assert (X : forall x y, (0 <= y)%Z -> (- y <= x)%Z -> (- y ^ (2 * k + 1) <= x ^ (2 * k + 1))%Z).
  { intros x y Y H. destruct (Z.le_gt_cases 0 x) as [p | n].
    - generalize (Z.pow_nonneg x (2 * k + 1) p), (Z.pow_nonneg y (2 * k + 1) Y). lia.
    - generalize (Z.pow_le_mono_l (- x) y (2 * k + 1) ltac:(lia)).
      replace (- x)%Z with (-1 * x)%Z by ring. rewrite Z.pow_mul_l.
      replace ((-1) ^ (2 * k + 1))%Z with (-1)%Z; [lia|].
      rewrite Z.pow_add_r, Z.pow_mul_r by lia. change ((-1) ^ 2)%Z with 1%Z. rewrite Z.pow_1_l; lia. }
  destruct (Z.le_gt_cases 0 (c + m)) as [p | n].
  - generalize (X (c - m)%Z (c + m)%Z p ltac:(lia)). lia.
  - generalize (X (c + m)%Z (c - m)%Z ltac:(lia) ltac:(lia)). lia.
Qed.
Lemma f_at_zero k q n C : (0 <= k)%Z -> 0 <= q <= 1 -> (0 <= C)%Z -> 0 <= f k q n C 0.
Proof.
  intros K Q P. unfold f.
  set (g := fun m => w k 0 m * IZR (m ^ (2 * k + 1))).
  assert (half : forall m, g m = / 2 * IZR (m ^ (2 * k + 1))).
  { intros m. unfold g, w. rewrite Rmult_0_l, exp_0. now replace (1 + 1) with 2 by ring. }
  assert (E : patches q n g C = patches q n (fun x => g (2 * C - x)%Z) C).
  { generalize (patches_turned q n g C 0). now rewrite Z.add_0_r, Z.sub_0_r. }
  assert (S : 0 <= patches q n (fun x => g x + g (2 * C - x)%Z) C).
  { apply Rle_trans with (patches q n (fun _ => 0) C).
    - right. symmetry. clear. generalize C. induction n as [|n IH]; intros c; cbn [patches]; [reflexivity|].
      unfold patch. rewrite !IH. ring.
    - apply patches_le; [exact Q|]. intros x. rewrite !half, <- Rmult_plus_distr_l, <- plus_IZR.
      apply Rmult_le_pos; [lra|]. apply IZR_le.
      replace x with (C + (x - C))%Z at 1 by ring. replace (2 * C - x)%Z with (C - (x - C))%Z by ring.
      apply odd_pair; lia. }
  rewrite patches_plus, <- E in S. lra.
Qed.
Lemma win_at_zero k q n C : (1 <= k)%Z -> 0 <= q <= 1 -> (0 <= C)%Z -> Companions_win k q n C -> 0 < Delta k q n C 0.
Proof. intros. apply H2, f_at_zero; [lia | assumption | assumption]. Qed.

(** * The law of M in integers, for q = a / b: the coefficients of (a z^-1 + 2 (b - a) + a z)^n *)

Fixpoint total (l : list Z) (g : Z -> R) (m : Z) : R :=
  match l with
  | [] => 0
  | c :: l => IZR c * g m + total l g (m + 1)
  end.
Fixpoint plus (l r : list Z) : list Z :=
  match l, r with
  | [], _ => r
  | _, [] => l
  | x :: l, y :: r => (x + y)%Z :: plus l r
  end.
Definition times (c : Z) (l : list Z) := map (Z.mul c) l.

Lemma total_plus l r g m : total (plus l r) g m = total l g m + total r g m.
Proof.
  revert r m. induction l as [|x l IH]; intros [|y r] m; simpl; try lra. rewrite IH, plus_IZR. lra.
Qed.
Lemma total_times c l g m : total (times c l) g m = IZR c * total l g m.
Proof.
  revert m. induction l as [|x l IH]; intros m; simpl; [lra|]. rewrite IH, mult_IZR. lra.
Qed.

Section Law.
Variables a b : Z.
Hypothesis b_positive : (0 < b)%Z.
Let q := IZR a / IZR b.

(** One patch more, with the weights of -1, 0 and 1. *)
Definition more (x y z : Z) (l : list Z) := plus (times x l) (0%Z :: plus (times y l) (0%Z :: times z l)).
Fixpoint law (n : nat) : list Z :=
  match n with O => [1%Z] | S n => more a (2 * (b - a)) a (law n) end.
Definition turned (l : list Z) := more (2 * a) (2 * (b - a)) 0 l.

Lemma total_more x y z l g m :
  total (more x y z l) g (m - 1) = IZR x * total l g (m - 1) + IZR y * total l g m + IZR z * total l g (m + 1).
Proof.
  unfold more. rewrite total_plus, total_times. cbn [total].
  rewrite total_plus, total_times. cbn [total]. rewrite total_times.
  replace (m - 1 + 1)%Z with m by ring. lra.
Qed.

Lemma total_more' x y z l g m :
  total (more x y z l) g m = IZR x * total l g m + IZR y * total l g (m + 1) + IZR z * total l g (m + 2).
Proof.
  replace m with (m + 1 - 1)%Z at 1 by ring. rewrite total_more.
  replace (m + 1 - 1)%Z with m by ring. now replace (m + 1 + 1)%Z with (m + 2)%Z by ring.
Qed.

Lemma b_not_zero : IZR b <> 0.
Proof. apply not_0_IZR. lia. Qed.

Lemma law_right n g m :
  IZR (2 * b) ^ n * patches q n g m = total (law n) g (m - Z.of_nat n).
Proof.
  revert m. induction n as [|n IH]; intros m.
  - simpl. replace (m - 0)%Z with m by ring. lra.
  - cbn [law patches]. rewrite Nat2Z.inj_succ.
    replace (m - Z.succ (Z.of_nat n))%Z with ((m - Z.of_nat n) - 1)%Z by lia.
    rewrite total_more. unfold patch. cbn [pow].
    replace (m - Z.of_nat n - 1)%Z with ((m + -1) - Z.of_nat n)%Z by lia.
    replace (m - Z.of_nat n + 1)%Z with ((m + 1) - Z.of_nat n)%Z by lia.
    rewrite <- 3!IH. replace (m + 0)%Z with m by ring.
    rewrite !mult_IZR, minus_IZR. unfold q. field. exact b_not_zero.
Qed.

Lemma Delta_law n (g : Z -> R) C : (2 <= n)%nat ->
  IZR (2 * b) ^ n * patch q (fun s => patch q (fun t =>
      IZR (1 - s) * IZR (1 - t) * patches q (n - 2) g (C + s + t)))
  = total (turned (turned (law (n - 2)))) g (C - Z.of_nat n).
Proof.
  intros N. unfold turned. rewrite !total_more'.
  set (P := patches q (n - 2) g). set (S := IZR (2 * b) ^ (n - 2)).
  assert (X : forall k, total (law (n - 2)) g (C - Z.of_nat n + k)%Z = S * P (C - 2 + k)%Z).
  { intros k. unfold S, P. rewrite law_right. f_equal. lia. }
  replace (IZR (2 * b) ^ n) with (IZR (2 * b) ^ 2 * S).
  2: { unfold S. rewrite <- pow_add. f_equal. lia. }
  replace (C - Z.of_nat n)%Z with (C - Z.of_nat n + 0)%Z by ring.
  rewrite <- !Z.add_assoc, !X. unfold patch.
  change (1 - 0)%Z with 1%Z. change (1 - 1)%Z with 0%Z. change (1 - -1)%Z with 2%Z.
  replace (C + 0 + 0)%Z with (C - 2 + 2)%Z by ring. replace (C + 0 + -1)%Z with (C - 2 + 1)%Z by ring.
  replace (C + -1 + 0)%Z with (C - 2 + 1)%Z by ring. replace (C + -1 + -1)%Z with (C - 2 + 0)%Z by ring.
  change (0 + (1 + 1))%Z with 2%Z. change (0 + 1)%Z with 1%Z.
  rewrite !mult_IZR, minus_IZR. unfold q. field. exact b_not_zero.
Qed.

(** * The computation: the sums of [total] in ball arithmetic *)

Variable prec : F.precision.
Fixpoint ball (e p : Z) (u : I.type) (l : list Z) (m : Z) : I.type :=
  match l with
  | [] => ofZ prec 0
  | c :: l => I.add prec
      (I.mul prec (ofZ prec (c * m ^ e)) (logistic prec (I.mul prec u (ofZ prec (m ^ p)))))
      (ball e p u l (m + 1))
  end.
Lemma ball_right e k u U l m : u \in U ->
  total l (fun m => w k u m * IZR (m ^ e)) m \in ball e (2 * k + 1) U l m.
Proof.
  intros H. revert m. induction l as [|c l IH]; intros m; cbn [total ball]; [apply in_Z|].
  apply in_add; [|apply IH].
  replace (IZR c * (w k u m * IZR (m ^ e))) with (IZR (c * m ^ e) * w k u m) by (rewrite mult_IZR; ring).
  apply in_mul; [apply in_Z|]. apply in_logistic, in_mul; [exact H | apply in_Z].
Qed.

Definition f_ball k n C U := ball (2 * k + 1) (2 * k + 1) U (law n) (C - Z.of_nat n).
Definition Delta_ball k n C U := ball (2 * k - 1) (2 * k + 1) U (turned (turned (law (n - 2)))) (C - Z.of_nat n).

Lemma scale_positive n : 0 < IZR (2 * b) ^ n.
Proof. apply pow_lt, IZR_lt. lia. Qed.

Definition wins k n C x y : bool :=
  let U := ofQ prec x y in
  (1 <=? k)%Z && (2 <=? n)%nat && (0 <=? a)%Z && (a <=? b)%Z && negb (y =? 0)%Z
  && negative (f_ball k n C U) && positive (Delta_ball k n C U).
Definition loses k n C x y : bool :=
  let U := ofQ prec x y in
  (1 <=? k)%Z && (2 <=? n)%nat && (0 <=? a)%Z && (a <=? b)%Z && negb (y =? 0)%Z
  && positive (f_ball k n C U) && negative (Delta_ball k n C U).

Lemma q_range : (0 <= a)%Z -> (a <= b)%Z -> 0 <= q <= 1.
Proof.
  intros A B. unfold q. apply IZR_lt in b_positive. apply IZR_le in A, B. split.
  - apply Rmult_le_pos; [lra|]. left. now apply Rinv_0_lt_compat.
  - apply Rmult_le_reg_r with (IZR b); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.

Ltac open_check H := unfold wins, loses in H; cbv zeta in H; repeat rewrite Bool.andb_true_iff in H;
  destruct H as [[[[[[K N] A] B] Y] P] M];
  apply Z.leb_le in K; apply Nat.leb_le in N; apply Z.leb_le in A; apply Z.leb_le in B;
  apply Bool.negb_true_iff, Z.eqb_neq in Y.

Lemma scaled c x : 0 < c -> (c * x < 0 -> x < 0) /\ (0 < c * x -> 0 < x).
Proof. intros; split; intros; nra. Qed.

Lemma wins_right k n C x y : wins k n C x y = true -> Companions_win k q n C.
Proof.
  intros H. open_check H. apply win_by_one_sign with (IZR x / IZR y);
    [exact K | now apply q_range | apply (scaled _ _ (scale_positive n)) | apply (scaled _ _ (scale_positive n))].
  - unfold f. rewrite law_right. eapply is_negative; [|exact P]. now apply ball_right, in_Q.
  - unfold Delta. rewrite Delta_law by exact N. eapply is_positive; [|exact M]. now apply ball_right, in_Q.
Qed.
Lemma loses_right k n C x y : loses k n C x y = true -> Companions_lose k q n C.
Proof.
  intros H. open_check H. apply lose_by_one_sign with (IZR x / IZR y);
    [exact K | now apply q_range | apply (scaled _ _ (scale_positive n)) | apply (scaled _ _ (scale_positive n))].
  - unfold f. rewrite law_right. eapply is_positive; [|exact P]. now apply ball_right, in_Q.
  - unfold Delta. rewrite Delta_law by exact N. eapply is_negative; [|exact M]. now apply ball_right, in_Q.
Qed.
End Law.
