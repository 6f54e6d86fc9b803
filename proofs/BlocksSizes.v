(** Block attention is optimal at every number of sets of two, q = 3 / 10: by moments for many sets, and in integers
    at one number after the other for few. The claim is [Best] of Best.v. *)
From Coq Require Import Reals ZArith List Lra Lia Bool.
From Coquelicot Require Import Coquelicot.
From Book Require Import Ball Vote Moments Sizes Blocks Risk Form Best.
Import ListNotations.
Open Scope R_scope.

Local Notation q := (3 / 10).
Local Notation mean := (mean q 2).
Local Notation M k := (mean (free k)).

(** * Means over sets, as sums *)

(** What a set of two adds to the sum of cubes, and a product of its signs as weight, in units of 1 / 400. *)
Definition chances : law := [(-8, 9); (-1, 84); (0, 214); (1, 84); (8, 9)]%Z.
Definition s_ : law := [(-8, -9); (-1, -42); (1, 42); (8, 9)]%Z.
Definition ss_ : law := [(-8, 9); (-1, 42); (0, 18); (1, 42); (8, 9)]%Z.
Definition st_ : law := [(-8, 9); (0, -18); (8, 9)]%Z.
Definition cube_ : law := [(-8, -72); (-1, -84); (1, 84); (8, 72)]%Z.

(** r (x) f (m + x), added up. *)
Definition O (r : law) (f : Z -> R) (m : Z) : R := over r (fun x => f (m + x)%Z).
Definition weighs (r : law) (pi : list Z -> Z) := forall pis g m, mean (pi :: pis) g m = / 400 * O r (mean pis g) m.
Ltac weigh := intros pis g m; cbn [Blocks.mean words]; unfold patch, O, one, i, ii, ij, cube; cbn; lra.
Lemma chances_weigh : weighs chances one. Proof. weigh. Qed.
Lemma s_weighs : weighs s_ i. Proof. weigh. Qed.
Lemma ss_weighs : weighs ss_ ii. Proof. weigh. Qed.
Lemma st_weighs : weighs st_ ij. Proof. weigh. Qed.
Lemma cube_weighs : weighs cube_ cube. Proof. weigh. Qed.
Lemma M_succ k g m : M (S k) g m = / 400 * O chances (M k g) m.
Proof. exact (chances_weigh (free k) g m). Qed.

Lemma over_plus l g h : over l (fun x => g x + h x) = over l g + over l h.
Proof. induction l as [|[k w] l IH]; cbn [over]; [ring|]. rewrite IH. ring. Qed.
Lemma over_times l c g : over l (fun x => c * g x) = c * over l g.
Proof. induction l as [|[k w] l IH]; cbn [over]; [ring|]. rewrite IH. ring. Qed.
Lemma over_swap l r (g : Z -> Z -> R) : over l (fun x => over r (g x)) = over r (fun y => over l (fun x => g x y)).
Proof.
  induction l as [|[k w] l IH]; cbn [over].
  - transitivity (0 * over r (fun _ => 0)); [ring | rewrite <- over_times; apply over_ext; intros; ring].
  - now rewrite IH, <- over_times, <- over_plus.
Qed.
Lemma O_ext r f g m : (forall x, f x = g x) -> O r f m = O r g m.
Proof. intros H. apply over_ext. intros x. apply H. Qed.
Lemma O_swap r s f m : O r (O s f) m = O s (O r f) m.
Proof.
  unfold O. rewrite over_swap. apply over_ext. intros y. apply over_ext. intros x. f_equal. ring.
Qed.
Lemma M_ext k f g m : (forall x, f x = g x) -> M k f m = M k g m.
Proof. intros H. revert m. induction k as [|k IH]; intros m; [apply H|]. rewrite !M_succ. f_equal. now apply O_ext. Qed.
Lemma M_O k r f m : M k (O r f) m = O r (M k f) m.
Proof.
  revert m. induction k as [|k IH]; intros m; [reflexivity|]. rewrite M_succ, (O_ext _ _ _ _ IH), O_swap.
  unfold O at 1 3. rewrite <- over_times. apply over_ext. intros x. now rewrite M_succ.
Qed.
Lemma M_plus k f g m : M k (fun x => f x + g x) m = M k f m + M k g m.
Proof.
  revert m. induction k as [|k IH]; intros m; [reflexivity|]. rewrite !M_succ, (O_ext _ _ _ _ IH). unfold O. rewrite over_plus. ring.
Qed.
Lemma M_times k c f m : M k (fun x => c * f x) m = c * M k f m.
Proof.
  revert m. induction k as [|k IH]; intros m; [reflexivity|]. rewrite !M_succ, (O_ext _ _ _ _ IH). unfold O. rewrite over_times. ring.
Qed.
Lemma M_const k c m : M k (fun _ => c) m = c.
Proof.
  revert m. induction k as [|k IH]; intros m; [reflexivity|]. rewrite M_succ, (O_ext _ _ _ _ IH). unfold O. cbn. field.
Qed.
Lemma M_pos k f m : (forall x, 0 < f x) -> 0 < M k f m.
Proof.
  intros H. revert m. induction k as [|k IH]; intros m; [apply H|]. rewrite M_succ. unfold O. cbn [over chances].
  generalize (IH (m + -8)%Z), (IH (m + -1)%Z), (IH (m + 0)%Z), (IH (m + 1)%Z), (IH (m + 8)%Z). lra.
Qed.
Lemma M_le k f g m : (forall x, f x <= g x) -> M k f m <= M k g m.
Proof.
  intros H. revert m. induction k as [|k IH]; intros m; [apply H|]. rewrite !M_succ. unfold O. cbn [over chances].
  generalize (IH (m + -8)%Z), (IH (m + -1)%Z), (IH (m + 0)%Z), (IH (m + 1)%Z), (IH (m + 8)%Z). lra.
Qed.
Lemma M_shift k f c m : M k f (m + c) = M k (fun x => f (x + c)%Z) m.
Proof.
  revert m. induction k as [|k IH]; intros m; [reflexivity|]. rewrite !M_succ. f_equal. apply over_ext. intros x. rewrite <- IH. f_equal. ring.
Qed.
Lemma M_flip k f m : M k f (- m) = M k (fun x => f (- x)%Z) m.
Proof.
  revert m. induction k as [|k IH]; intros m; [reflexivity|]. rewrite !M_succ. f_equal. unfold O. cbn [over chances]. rewrite <- !IH.
  replace (- (m + -8))%Z with (- m + 8)%Z by ring. replace (- (m + 8))%Z with (- m + -8)%Z by ring.
  replace (- (m + -1))%Z with (- m + 1)%Z by ring. replace (- (m + 1))%Z with (- m + -1)%Z by ring.
  replace (- (m + 0))%Z with (- m + 0)%Z by ring. ring.
Qed.
Ltac moment := let k := fresh "k" in let IH := fresh "IH" in intros k; induction k as [|k IH]; intros m; [cbn; field|];
  rewrite M_succ, ?S_INR; unfold O; cbn [over chances]; rewrite !IH, !plus_IZR; field.
Lemma M1 k m : M k (fun x => IZR x) m = IZR m.
Proof. revert k m. moment. Qed.
Lemma M2 k m : M k (fun x => IZR x ^ 2) m = IZR m ^ 2 + 33 / 10 * INR k.
Proof. revert k m. moment. Qed.
Lemma M4 k m : M k (fun x => IZR x ^ 4) m = IZR m ^ 4 + 6 * IZR m ^ 2 * (33 / 10 * INR k) + 9237 / 50 * INR k + 3 * (33 / 10) ^ 2 * INR k * (INR k - 1).
Proof. revert k m. moment. Qed.

(** * Differences of the slope *)

Lemma goes_down f f' : (forall x, is_derive f x (f' x)) -> (forall x, f' x <= 0) -> forall x y, x <= y -> f y <= f x.
Proof.
  intros D N x y H. destruct (MVT_gen f x y f') as [c [_ E]].
  - intros z _. apply D.
  - intros z _. apply continuity_pt_filterlim, (ex_derive_continuous f z). exists (f' z). apply D.
  - generalize (N c). nra.
Qed.
Definition T a b (f : R -> R) x := a * (f (x + 1) - f (x - 1)) + b * (f (x + 8) - f (x - 8)).
Lemma T_down a b f f' x : 0 <= a -> 0 <= b -> (forall x, is_derive f x (f' x)) -> (forall x, f' x <= 0) -> T a b f x <= 0.
Proof.
  intros A B D N. unfold T. generalize (goes_down f f' D N (x - 1) (x + 1) ltac:(lra)), (goes_down f f' D N (x - 8) (x + 8) ltac:(lra)). nra.
Qed.
Lemma T_derive a b f f' : (forall x, is_derive f x (f' x)) -> forall x, is_derive (T a b f) x (T a b f' x).
Proof.
  intros D x. unfold T. assert (E : forall y, ex_derive f y) by (intros y; exists (f' y); apply D).
  auto_derive; [repeat split; apply E|]. rewrite !(fun y => is_derive_unique f y (f' y) (D y)). unfold Rminus. ring.
Qed.

Section Slope.
Variable v : R.
Hypothesis v_positive : 0 < v.
Definition G x := / (1 + exp (v * x)).
Let r x := G x * (1 - G x).
Lemma G_range x : 0 < G x < 1.
Proof.
  assert (P := exp_pos (v * x)). unfold G. split; [apply Rinv_0_lt_compat; lra|]. rewrite <- Rinv_1 at 2. apply Rinv_lt_contravar; lra.
Qed.
Lemma G_flip x : G (- x) = 1 - G x.
Proof.
  assert (P := exp_pos (v * x)). unfold G. replace (v * - x) with (- (v * x)) by ring. rewrite exp_Ropp. field. lra.
Qed.
Lemma r_range x : 0 < r x <= / 4.
Proof. unfold r. generalize (G_range x), (pow2_ge_0 (G x - / 2)). nra. Qed.
Ltac derive := let y := fresh "y" in intros y; assert (P := exp_pos (v * y)); unfold r, G; auto_derive; [lra | field; lra].

(** The third differences: what is left of G without v^3 x^3 / 48 has a third derivative that is nowhere positive. *)
Let K x := G x - v ^ 3 / 48 * x ^ 3.
Let K1 x := - v * r x - v ^ 3 / 16 * x ^ 2.
Let K2 x := v ^ 2 * r x * (1 - 2 * G x) - v ^ 3 / 8 * x.
Let K3 x := - v ^ 3 * (r x * ((1 - 2 * G x) ^ 2 - 2 * r x) + / 8).
Lemma K_derive x : is_derive K x (K1 x). Proof. revert x. unfold K, K1. derive. Qed.
Lemma K1_derive x : is_derive K1 x (K2 x). Proof. revert x. unfold K1, K2. derive. Qed.
Lemma K2_derive x : is_derive K2 x (K3 x). Proof. revert x. unfold K2, K3. derive. Qed.
Lemma K3_sign x : K3 x <= 0.
Proof.
  unfold K3. replace ((1 - 2 * G x) ^ 2) with (1 - 4 * r x) by (unfold r; ring). generalize (r_range x), (pow_lt v 3 v_positive). intros R V.
  assert (0 <= r x * (1 - 4 * r x - 2 * r x) + / 8) by nra. nra.
Qed.
Lemma third_down a b a' b' a'' b'' x : 0 <= a -> 0 <= b -> 0 <= a' -> 0 <= b' -> 0 <= a'' -> 0 <= b'' ->
  T a b (T a' b' (T a'' b'' K)) x <= 0.
Proof.
  intros A B A' B' A'' B''. apply (T_down _ _ _ (T a' b' (T a'' b'' K1))); [exact A | exact B | repeat apply T_derive; exact K_derive|].
  clear x. intros x. apply (T_down _ _ _ (T a'' b'' K2)); [exact A' | exact B' | repeat apply T_derive; exact K1_derive|].
  clear x. intros x. apply (T_down _ _ _ K3); [exact A'' | exact B'' | exact K2_derive | exact K3_sign].
Qed.
Lemma third x : T 42 9 (T 42 9 (T 42 9 G)) x <= 114 ^ 3 * v ^ 3.
Proof. generalize (third_down 42 9 42 9 42 9 x). unfold T, K. lra. Qed.
Lemma second_of_signal x : T 0 1 (T 42 9 (T 42 9 G)) x <= 8 * 114 ^ 2 * v ^ 3.
Proof. generalize (third_down 0 1 42 9 42 9 x). unfold T, K. lra. Qed.

(** The first difference. *)
Lemma first_difference x : G (x + 1) - G (x - 1) <= - v / 2 + v ^ 3 / 24 * (3 * x ^ 2 + 1).
Proof.
  assert (X : T 1 0 (fun x => G x + v / 4 * x - v ^ 3 / 48 * x ^ 3) x <= 0).
  { apply (T_down _ _ _ (fun x => - v * r x + v / 4 - v ^ 3 / 16 * x ^ 2)); [lra | lra | derive|]. clear x. intros x.
    assert (E : 1 - 4 * r x = th (v * x / 2) ^ 2).
    { assert (P := exp_pos (v * x)). unfold r, G, th. replace (2 * (v * x / 2)) with (v * x) by field. field. lra. }
    assert (S : th (v * x / 2) ^ 2 <= (v * x / 2) ^ 2).
    { generalize (v * x / 2). clear. intros z. destruct (Rle_lt_dec 0 z) as [Z | Z].
      - generalize (th_above z Z), (th_nonneg z Z). nra.
      - generalize (th_above (- z) ltac:(lra)), (th_nonneg (- z) ltac:(lra)). rewrite th_odd. nra. }
    nra. }
  unfold T in X. lra.
Qed.

(** The second difference of x G. *)
Lemma bend x : r x * (v * x * (1 - 2 * G x) - 2) <= / 8.
Proof.
  assert (N : forall x, 0 <= x -> r x * (v * x * (1 - 2 * G x) - 2) <= / 8).
  { clear x. intros x X. set (z := v * x). assert (Z : 0 <= z) by (apply Rmult_le_pos; lra).
    generalize (r_range x), (G_range x). intros R H.
    assert (W : z * (1 - 2 * G x) - 2 <= z - 2) by nra.
    destruct (Rle_lt_dec z 2) as [S | S]; [nra|].
    assert (E : 8 * (z - 2) <= exp z).
    { replace z with (1 + (1 + (1 + (z - 3)))) at 2 by ring. rewrite !exp_plus. generalize (exp_ineq1_le (z - 3)), (exp_ineq1_le 1). intros A B.
      assert (1 * 1 <= exp 1 * exp 1) by nra. assert (4 <= exp 1 * exp 1) by nra. assert (8 <= exp 1 * (exp 1 * exp 1)) by nra.
      replace (exp 1 * (exp 1 * (exp 1 * exp (z - 3)))) with (exp 1 * (exp 1 * exp 1) * exp (z - 3)) by ring. nra. }
    assert (I : G x * exp z <= 1).
    { unfold G. fold z. assert (P := exp_pos z). apply Rmult_le_reg_l with (1 + exp z); [lra|]. rewrite <- Rmult_assoc, Rinv_r; lra. }
    assert (r x <= G x) by (unfold r; nra). assert (r x * (z - 2) <= G x * (z - 2)) by nra. nra. }
  destruct (Rle_lt_dec 0 x) as [X | X]; [now apply N|]. generalize (N (- x) ltac:(lra)). unfold r. rewrite G_flip. intros H.
  replace (G x * (1 - G x) * (v * x * (1 - 2 * G x) - 2)) with ((1 - G x) * (1 - (1 - G x)) * (v * - x * (1 - 2 * (1 - G x)) - 2)) by ring. exact H.
Qed.
Lemma second_difference a x : 0 <= a -> (x + a) * G (x + a) + (x - a) * G (x - a) - 2 * (x * G x) <= v / 8 * a ^ 2.
Proof.
  intros A. set (k := fun x => x * G x - v / 16 * x ^ 2). set (k1 := fun x => G x - v * x * r x - v / 8 * x).
  assert (D : forall x, is_derive k x (k1 x)) by (unfold k, k1; derive).
  assert (D1 : forall x, is_derive k1 x (v * (r x * (v * x * (1 - 2 * G x) - 2) - / 8))) by (unfold k1; derive).
  assert (N : forall x, v * (r x * (v * x * (1 - 2 * G x) - 2) - / 8) <= 0) by (intros y; generalize (bend y); nra).
  assert (Y : forall y, is_derive (fun y => k (y + a) - k y) y (k1 (y + a) - k1 y)).
  { intros y. assert (E : forall y, ex_derive k y) by (intros z; exists (k1 z); apply D).
    auto_derive; [repeat split; apply E|]. rewrite !(fun y => is_derive_unique k y (k1 y) (D y)). ring. }
  assert (X : k (x + a) - k x <= k (x - a + a) - k (x - a)).
  { apply (goes_down (fun y => k (y + a) - k y) _ Y); [|lra].
    intros y. generalize (goes_down k1 _ D1 N y (y + a) ltac:(lra)). lra. }
  replace (x - a + a) with x in X by ring. unfold k in X. lra.
Qed.
End Slope.

(** * Many sets: what moments give *)

Lemma O_times r c f m : O r (fun x => c * f x) m = c * O r f m.
Proof. apply over_times. Qed.
Lemma mean2 r s pi pj pis g m : weighs r pi -> weighs s pj -> mean (pi :: pj :: pis) g m = / 400 ^ 2 * O r (O s (mean pis g)) m.
Proof. intros H K. rewrite H, (O_ext _ _ _ _ (K pis g)), O_times. field. Qed.
Lemma mean3 r s t pi pj pk pis g m : weighs r pi -> weighs s pj -> weighs t pk ->
  mean (pi :: pj :: pk :: pis) g m = / 400 ^ 3 * O r (O s (O t (mean pis g))) m.
Proof. intros H K J. rewrite (mean2 r s) by assumption. rewrite (O_ext r _ (fun x => / 400 * O s (O t (mean pis g)) x)).
  - rewrite O_times. field.
  - intros x. rewrite (O_ext _ _ _ _ (J pis g)). apply O_times.
Qed.
Lemma O_T F m : O s_ (fun x => F (IZR x)) m = T 42 9 F (IZR m).
Proof.
  unfold O, T. cbn [over s_]. rewrite !plus_IZR. unfold Rminus. change (IZR (-8)) with (- (8)). change (IZR (-1)) with (- (1)).
  change (IZR (-9)) with (- (9)). change (IZR (-42)) with (- (42)). ring.
Qed.
Lemma T_even a b f : (forall y, f (- y) = f y) -> forall y, T a b f (- y) = - T a b f y.
Proof.
  intros E y. unfold T. rewrite <- (E (- y + 1)), <- (E (- y - 1)), <- (E (- y + 8)), <- (E (- y - 8)).
  replace (- (- y + 1)) with (y - 1) by ring. replace (- (- y - 1)) with (y + 1) by ring.
  replace (- (- y + 8)) with (y - 8) by ring. replace (- (- y - 8)) with (y + 8) by ring. ring.
Qed.
Lemma T_flip a b f : (forall y, f (- y) = 1 - f y) -> forall y, T a b f (- y) = T a b f y.
Proof.
  intros E y. unfold T. replace (- y + 1) with (- (y - 1)) by ring. replace (- y - 1) with (- (y + 1)) by ring.
  replace (- y + 8) with (- (y - 8)) by ring. replace (- y - 8) with (- (y + 8)) by ring. rewrite !E. ring.
Qed.

Section Many.
Variables (v : R) (k : nat).
Hypothesis v_positive : 0 < v.
Let g := slope v.
Lemma three_sets n : mean (i :: i :: i :: free n) g 8 <= (114 / 400) ^ 3 * v ^ 3.
Proof.
  rewrite (mean3 s_ s_ s_) by exact s_weighs.
  assert (E : O s_ (O s_ (O s_ (M n g))) 8 <= 114 ^ 3 * v ^ 3).
  { replace (O s_ (O s_ (O s_ (M n g))) 8) with (M n (O s_ (O s_ (O s_ g))) 8).
    - rewrite <- (M_const n (114 ^ 3 * v ^ 3) 8). apply M_le. intros x.
      rewrite (O_ext s_ _ (fun x => T 42 9 (T 42 9 (G v)) (IZR x))); [rewrite O_T; now apply third|].
      clear x. intros x. rewrite (O_ext s_ _ (fun x => T 42 9 (G v) (IZR x))); [now rewrite O_T|].
      clear x. intros x. exact (O_T (G v) x).
    - rewrite M_O. apply O_ext. intros x. rewrite M_O. apply O_ext. intros y. apply M_O. }
  lra.
Qed.
Lemma two_sets n : mean (i :: i :: free n) g 8 <= 4 * (114 / 400) ^ 2 * v ^ 3.
Proof.
  rewrite (mean2 s_ s_) by exact s_weighs.
  set (F := T 42 9 (T 42 9 (G v))).
  assert (S : forall x, O s_ (O s_ g) x = F (IZR x)).
  { intros x. rewrite (O_ext s_ _ (fun x => T 42 9 (G v) (IZR x))); [apply O_T|]. intros y. exact (O_T (G v) y). }
  assert (E : O s_ (O s_ (M n g)) 8 = M n (fun x => F (IZR x)) 8).
  { rewrite <- (M_ext n _ _ 8 S), M_O. apply O_ext. intros x. symmetry. apply M_O. }
  assert (D : M n (fun x => F (IZR x)) (- (8)) = - M n (fun x => F (IZR x)) 8).
  { rewrite M_flip. replace (- M n (fun x => F (IZR x)) 8) with (-1 * M n (fun x => F (IZR x)) 8) by ring. rewrite <- M_times.
    apply M_ext. intros x. rewrite opp_IZR. unfold F. rewrite T_even; [ring|]. apply T_flip. apply G_flip. }
  assert (U : M n (fun x => F (IZR x)) 8 - M n (fun x => F (IZR x)) (- (8)) <= 8 * 114 ^ 2 * v ^ 3).
  { change 8%Z with (0 + 8)%Z at 1. change (- (8))%Z with (0 + - (8))%Z. rewrite !M_shift.
    replace (M n (fun x => F (IZR (x + 8))) 0 - M n (fun x => F (IZR (x + - (8)))) 0) with
      (M n (fun x => F (IZR (x + 8)) + -1 * F (IZR (x + - (8)))) 0) by (rewrite M_plus, M_times; ring).
    rewrite <- (M_const n (8 * 114 ^ 2 * v ^ 3) 0). apply M_le. intros x. generalize (second_of_signal v v_positive (IZR x)). fold F.
    unfold T at 1. rewrite !plus_IZR. change (IZR (- (8))) with (- (8)). unfold Rminus. lra. }
  rewrite D in U. rewrite E. lra.
Qed.

Lemma falls_by_two n m : M n g (m + 1) < M n g (m - 1).
Proof.
  apply Rminus_lt_0. replace (m - 1)%Z with (m + -1)%Z by ring. rewrite !M_shift.
  replace (M n (fun x => g (x + -1)%Z) m - M n (fun x => g (x + 1)%Z) m) with (M n (fun x => g (x + -1)%Z + -1 * g (x + 1)%Z) m)
    by (rewrite M_plus, M_times; ring).
  apply M_pos. intros x. rewrite Rplus_comm. replace (-1 * g (x + 1)%Z) with (- g (x + 1)%Z) by ring. rewrite Rplus_comm. apply Rlt_Rminus.
  unfold g, slope. apply Rinv_lt_contravar.
  - generalize (exp_pos (v * IZR (x + -1))), (exp_pos (v * IZR (x + 1))). intros. apply Rmult_lt_0_compat; lra.
  - apply Rplus_lt_compat_l, exp_increasing, Rmult_lt_compat_l; [exact v_positive|]. apply IZR_lt. lia.
Qed.
Lemma falls_by n m : M n g (m + 1) - M n g (m - 1) <= - v / 2 + v ^ 3 / 24 * (3 * (IZR m ^ 2 + 33 / 10 * INR n) + 1).
Proof.
  replace (m - 1)%Z with (m + -1)%Z by ring. rewrite !M_shift.
  replace (M n (fun x => g (x + 1)%Z) m - M n (fun x => g (x + -1)%Z) m) with (M n (fun x => g (x + 1)%Z + -1 * g (x + -1)%Z) m)
    by (rewrite M_plus, M_times; ring).
  replace (- v / 2 + v ^ 3 / 24 * (3 * (IZR m ^ 2 + 33 / 10 * INR n) + 1)) with
    (M n (fun x => (- v / 2 + v ^ 3 / 24) + v ^ 3 / 8 * IZR x ^ 2) m).
  - apply M_le. intros x. generalize (first_difference v v_positive (IZR x)). unfold G, g, slope. rewrite !plus_IZR.
    change (IZR (-1)) with (- (1)). unfold Rminus. lra.
  - rewrite M_plus, M_const, M_times, M2. field.
Qed.
Definition pulls m := IZR m * slope v m.
Lemma bends n a m : (0 <= a)%Z -> M n pulls (m + a) + M n pulls (m - a) - 2 * M n pulls m <= v / 8 * IZR a ^ 2.
Proof.
  intros A. replace (m - a)%Z with (m + - a)%Z by ring. rewrite !M_shift.
  replace (M n (fun x => pulls (x + a)) m + M n (fun x => pulls (x + - a)) m - 2 * M n pulls m) with
    (M n (fun x => (pulls (x + a) + pulls (x + - a)) + -2 * pulls x) m) by (rewrite M_plus, M_plus, M_times; ring).
  rewrite <- (M_const n (v / 8 * IZR a ^ 2) m). apply M_le. intros x. apply IZR_le in A.
  generalize (second_difference v v_positive (IZR a) (IZR x) A). unfold pulls, G, slope. rewrite !plus_IZR, opp_IZR. unfold Rminus. lra.
Qed.
End Many.
