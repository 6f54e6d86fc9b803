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

(** * Fewer inequalities: b > 0 at every size, and psi <= a *)

Section Enough.
Variables (v : R) (k : nat).
Let L := (4 + k)%nat.
Let n := INR k.
Hypothesis v_positive : 0 < v.
Hypothesis balanced : pull q 2 L v = 0.
Lemma q_half : 0 <= q <= 1. Proof. lra. Qed.
Lemma N_is : N L = 4 + n.
Proof. unfold N, L, n. rewrite plus_INR. cbn [INR]. ring. Qed.
Lemma n_nonneg : 0 <= n. Proof. apply pos_INR. Qed.
Lemma t1_negative : t1 q 2 L v < 0.
Proof.
  assert (B := at_block q 2 L q_half (le_n 2) ltac:(unfold L; lia) v balanced). unfold c in B. cbn [INR] in B.
  set (y1 := t1 q 2 L v) in *. set (y2 := t2 q 2 L v) in *. set (y3 := t3 q 2 L v) in *.
  assert (D : y1 - y2 < 0); [|lra]. unfold y1, y2, t1, t2. fold L. change (L - 2)%nat with (2 + k)%nat. rewrite N_is.
  change (signal 2) with 8%Z. rewrite s_weighs.
  assert (W : weighs [(-8, -9); (8, 9)]%Z iij) by (intros pis g m; cbn [Blocks.mean words]; unfold patch, O, iij, i; cbn; lra).
  rewrite W. generalize (falls_by_two v v_positive (2 + k) 8), n_nonneg. change (8 + 1)%Z with 9%Z. change (8 - 1)%Z with 7%Z. unfold O. cbn [over s_].
  change (8 + -8)%Z with 0%Z. change (8 + -1)%Z with 7%Z. change (8 + 1)%Z with 9%Z. change (8 + 8)%Z with 16%Z.
  generalize (mean (free (L - 1)) (slope v) 8) (M (2 + k) (slope v) 0%Z) (M (2 + k) (slope v) 7%Z) (M (2 + k) (slope v) 9%Z) (M (2 + k) (slope v) 16%Z).
  intros e x0 x7 x9 x16 F P.
  match goal with |- ?x < 0 => replace x with (- ((3 + n) * (42 / 400) * (x7 - x9) * / (4 + n))) by (field; lra) end.
  apply Ropp_lt_gt_0_contravar. apply Rmult_lt_0_compat; [|apply Rinv_0_lt_compat; lra]. nra.
Qed.
Lemma enough : 3 * t4 q 2 L v + (2 + n) * Rmax (td q 2 L v) 0 < 0 ->
  3 * ((t4 q 2 L v + t5 q 2 L v) / 2) + (2 + n) * Rmax (td q 2 L v) 0 < 0 ->
  let b := if (2 =? 2)%nat then - t1 q 2 L v else Rmin (- t1 q 2 L v) (second 2 (t1 q 2 L v) (t2 q 2 L v) (t3 q 2 L v)) in
  let a := 3 * Rmax (t4 q 2 L v - u 2 (t4 q 2 L v) (t5 q 2 L v)) 0 in
  let psi := if Rle_dec (N L ^ 2 * b) ((N L - 1) ^ 2 * (a + b)) then a - b / (N L - 1)
             else N L * (sqrt (a + b) - sqrt b) ^ 2 in
  0 < b /\ (N L - 2) * Rmax (td q 2 L v) 0 + psi < - 3 * u 2 (t4 q 2 L v) (t5 q 2 L v).
Proof.
  assert (T := t1_negative). assert (P := n_nonneg). rewrite N_is. cbn [Nat.eqb].
  replace (u 2 (t4 q 2 L v) (t5 q 2 L v)) with ((t4 q 2 L v + t5 q 2 L v) / 2) by (unfold u, c; cbn [INR]; field).
  generalize (t1 q 2 L v) (t4 q 2 L v) (t5 q 2 L v) (Rmax (td q 2 L v) 0) T. clear T. intros y1 y4 y5 m T E4 E5. cbv zeta.
  set (b := - y1). assert (b0 : 0 < b) by (unfold b; lra). clearbody b. set (w := (y4 + y5) / 2) in *.
  set (a := 3 * Rmax (y4 - w) 0). assert (a0 : 0 <= a) by (unfold a; generalize (Rmax_r (y4 - w) 0); lra).
  assert (S : (2 + n) * m + a < - 3 * w) by (unfold a, Rmax; destruct (Rle_dec (y4 - w) 0); lra). clearbody a.
  split; [exact b0|]. replace (4 + n - 2) with (2 + n) by ring. replace (4 + n - 1) with (3 + n) by ring.
  destruct (Rle_dec _ _) as [Y | Y].
  - assert (0 < b / (3 + n)) by (apply Rdiv_lt_0_compat; lra). lra.
  - apply Rnot_le_lt in Y. assert (K : (4 + n) * (sqrt (a + b) - sqrt b) ^ 2 <= a); [|lra].
    assert (s2 : sqrt (a + b) ^ 2 = a + b) by (apply pow2_sqrt; lra). assert (r2 : sqrt b ^ 2 = b) by (apply pow2_sqrt; lra).
    assert (r0 := sqrt_pos b). assert (s0 := sqrt_pos (a + b)). assert (le : sqrt b <= sqrt (a + b)) by (apply sqrt_le_1; lra).
    set (s := sqrt (a + b)) in *. set (r := sqrt b) in *. clearbody s r.
    assert (X : (3 + n) * s <= (4 + n) * r).
    { apply Rnot_lt_le. intros Z. assert (((4 + n) * r) ^ 2 <= ((3 + n) * s) ^ 2) by (apply pow_incr; split; [apply Rmult_le_pos|]; lra).
      rewrite !Rpow_mult_distr, s2, r2 in H. lra. }
    replace a with ((s - r) * (s + r)) by (replace ((s - r) * (s + r)) with (s ^ 2 - r ^ 2) by ring; lra).
    replace ((4 + n) * (s - r) ^ 2) with ((s - r) * ((4 + n) * (s - r))) by ring. apply Rmult_le_compat_l; lra.
Qed.
End Enough.

(** The best v is positive, and there is one below every v at which the pull is negative. *)
Section Best_v.
Variable k : nat.
Let L := (4 + k)%nat.
Lemma pull_at_zero : pull q 2 L 0 = 4.
Proof.
  unfold pull. change (L - 1)%nat with (3 + k)%nat. rewrite (M_ext _ _ (fun x => / 2 * IZR x)).
  - rewrite M_times, M1. change (signal 2) with 8%Z. field.
  - intros x. unfold slope. rewrite Rmult_0_l, exp_0. field.
Qed.
Lemma pull_from v v' : v <= v' -> pull q 2 L v' <= pull q 2 L v.
Proof. exact (pull_falls 3 10 2 L v v' q_half). Qed.
Lemma zero_positive v : pull q 2 L v = 0 -> 0 < v.
Proof. intros Z. apply Rnot_le_lt. intros H. generalize (pull_from v 0 H). rewrite pull_at_zero. lra. Qed.
Lemma zero_below v v' : pull q 2 L v = 0 -> pull q 2 L v' < 0 -> v < v'.
Proof. intros Z P. apply Rnot_le_lt. intros H. generalize (pull_from v' v H). lra. Qed.
Lemma zero_above v v' : pull q 2 L v = 0 -> 0 < pull q 2 L v' -> v' < v.
Proof. intros Z P. apply Rnot_le_lt. intros H. generalize (pull_from v v' H). lra. Qed.
Lemma zero_exists v' : pull q 2 L v' < 0 -> exists v, pull q 2 L v = 0.
Proof.
  intros P. assert (V : 0 < v').
  { apply Rnot_le_lt. intros H. generalize (pull_from v' 0 H). rewrite pull_at_zero. lra. }
  destruct (IVT_cor _ 0 v' (pull_continuous 3 10 2 L) (Rlt_le _ _ V)) as [v [_ Hv]]; [|now exists v].
  change (3 / 10) with q. rewrite pull_at_zero. lra.
Qed.
(** With the moments of P = 8 + R: v P tanh (v P / 2) is not far from its first terms. *)
Lemma pull_by_moments v : 0 < v -> let n := INR (3 + k) in let B := 64 + 33 / 10 * n in
  pull q 2 L v <= 4 - v / 4 * B + v ^ 3 / 48 * (4096 + 6 * 64 * (33 / 10 * n) + 9237 / 50 * n + 3 * (33 / 10) ^ 2 * n * (n - 1)).
Proof.
  intros V n B. unfold pull. change (L - 1)%nat with (3 + k)%nat. change (signal 2) with 8%Z.
  apply Rle_trans with (M (3 + k) (fun x => / 2 * IZR x + (- v / 4 * IZR x ^ 2 + v ^ 3 / 48 * IZR x ^ 4)) 8).
  - apply M_le. intros m. assert (E : slope v m = (1 - th (v * IZR m / 2)) / 2).
    { unfold slope, th. replace (2 * (v * IZR m / 2)) with (v * IZR m) by field. generalize (exp_pos (v * IZR m)). intros P. field. lra. }
    rewrite E. set (x := IZR m). destruct (th_times (v * x / 2)) as [K _]. apply Rmult_le_reg_l with v; [exact V|].
    replace (v * (x * ((1 - th (v * x / 2)) / 2))) with (v * x / 2 - v * x / 2 * th (v * x / 2)) by field.
    replace (v * (/ 2 * x + (- v / 4 * x ^ 2 + v ^ 3 / 48 * x ^ 4))) with (v * x / 2 - ((v * x / 2) ^ 2 - (v * x / 2) ^ 4 / 3)) by field. lra.
  - rewrite M_plus, M_plus, !M_times, M1, M2, M4. fold n. unfold B. right. field.
Qed.
End Best_v.

(** * Many sets: the theorem *)

Section Bounds.
Variables (v : R) (k : nat).
Let L := (4 + k)%nat.
Let n := INR k.
Hypothesis v_positive : 0 < v.
Hypothesis balanced : pull q 2 L v = 0.
Let e := 2 + n.
Notation A := (M (2 + k) (slope v)).
Notation B := (M (1 + k) (slope v)).
Notation H := (M (2 + k) (pulls v)).
Lemma s_by_pulls m : e * / 400 * O s_ B m = (H m - IZR m * A m) / 8 + e * (63 / 800) * (B (m + 1)%Z - B (m - 1)%Z).
Proof.
  assert (P := pull_is q 2 3 (le_n 2) (le_n 3) (2 + k) (slope v) m). change (2 + k - 1)%nat with (1 + k)%nat in P.
  rewrite cube_weighs in P. fold (pulls v) in P. change (fun m0 => IZR m0 * slope v m0) with (pulls v) in P.
  replace (INR (2 + k)) with e in P by (unfold e, n; rewrite plus_INR; reflexivity).
  rewrite P. unfold O. cbn [over s_ cube_]. replace (m - 1)%Z with (m + -1)%Z by ring. field.
Qed.
Lemma H_zero : 9 * H 0 + 84 * H 7 + 214 * H 8 + 84 * H 9 + 9 * H 16 = 0.
Proof.
  assert (P := balanced). unfold pull in P. change (L - 1)%nat with (S (2 + k)) in P. change (signal 2) with 8%Z in P.
  change (fun m => IZR m * slope v m) with (pulls v) in P. rewrite M_succ in P. unfold O in P. cbn [over chances] in P.
  change (8 + -8)%Z with 0%Z in P. change (8 + -1)%Z with 7%Z in P. change (8 + 0)%Z with 8%Z in P. change (8 + 1)%Z with 9%Z in P.
  change (8 + 8)%Z with 16%Z in P. lra.
Qed.
Definition spread m := - v / 2 + v ^ 3 / 24 * (3 * (m ^ 2 + 33 / 10 * (1 + n)) + 1).
Lemma falls_at m : e * (B (m + 1)%Z - B (m - 1)%Z) <= e * spread (IZR m).
Proof.
  apply Rmult_le_compat_l; [unfold e; generalize (pos_INR k); fold n; lra|]. generalize (falls_by v v_positive (1 + k) m).
  rewrite plus_INR. fold n. cbn [INR]. unfold spread. lra.
Qed.
Ltac facts :=
  generalize H_zero (falls_by_two v v_positive (2 + k) 8) (bends v v_positive (2 + k) 1 8 ltac:(lia)) (bends v v_positive (2 + k) 8 8 ltac:(lia))
    (s_by_pulls 0) (s_by_pulls 7) (s_by_pulls 8) (s_by_pulls 9) (s_by_pulls 16) (falls_at 0) (falls_at 7) (falls_at 8) (falls_at 9) (falls_at 16).
Ltac literal := repeat match goal with
  | |- context [(?a + ?b)%Z] => let c := eval vm_compute in (a + b)%Z in change (a + b)%Z with c
  | |- context [(?a - ?b)%Z] => let c := eval vm_compute in (a - b)%Z in change (a - b)%Z with c end.
(** S m stands for e / 400 O s_ B m. *)
Ltac linear := facts; let S := fresh "S" in set (S := fun m => e * / 400 * O s_ B m); change (fun m => e * / 400 * O s_ B m) with S;
  repeat match goal with |- context [e * / 400 * O s_ B ?m] => change (e * / 400 * O s_ B m) with (S m) end; clearbody S;
  unfold O; cbn [over s_ ss_ st_]; literal; unfold spread; intros; lra.
Lemma t4_at_most : 400 * ((4 + n) * t4 q 2 L v) <= 105 / 16 * v - e * (189 / 40 * v) + e * v ^ 3 * (63 / 800) / 24 * (3 * (8916 + 396 * (1 + n)) + 120).
Proof.
  assert (P := pos_INR k). fold n in P.
  replace (400 * ((4 + n) * t4 q 2 L v)) with (O s_ A 8 + O ss_ A 8 + O ss_ (fun m => e * / 400 * O s_ B m) 8).
  - linear.
  - rewrite O_times. unfold t4. rewrite (N_is k : N L = 4 + n). change (L - 2)%nat with (2 + k)%nat. change (L - 3)%nat with (1 + k)%nat. change (signal 2) with 8%Z.
    rewrite s_weighs, ss_weighs, (mean2 ss_ s_) by (exact ss_weighs || exact s_weighs). unfold e. field. lra.
Qed.
Lemma u_at_most : 400 * ((4 + n) * ((t4 q 2 L v + t5 q 2 L v) / 2)) <=
  249 / 32 * v - e * (189 / 80 * v) + e * v ^ 3 * (63 / 800) / 24 * (3 * (5034 + 198 * (1 + n)) + 60).
Proof.
  assert (P := pos_INR k). fold n in P.
  replace (400 * ((4 + n) * ((t4 q 2 L v + t5 q 2 L v) / 2))) with
    (O s_ A 8 + (O ss_ A 8 + O st_ A 8) / 2 + (O ss_ (fun m => e * / 400 * O s_ B m) 8 + O st_ (fun m => e * / 400 * O s_ B m) 8) / 2).
  - linear.
  - rewrite !O_times. unfold t4, t5. rewrite (N_is k : N L = 4 + n). change (L - 2)%nat with (2 + k)%nat. change (L - 3)%nat with (1 + k)%nat. change (signal 2) with 8%Z.
    rewrite s_weighs, ss_weighs, st_weighs, (mean2 ss_ s_), (mean2 st_ s_) by (exact ss_weighs || exact s_weighs || exact st_weighs). unfold e. field. lra.
Qed.
Lemma td_at_most : (4 + n) * Rmax (td q 2 L v) 0 <= v ^ 3 * (12 * (114 / 400) ^ 2 + (1 + n) * (114 / 400) ^ 3).
Proof.
  assert (P := pos_INR k). fold n in P. assert (V : 0 < v ^ 3) by now apply pow_lt.
  unfold Rmax. destruct (Rle_dec _ _); [rewrite Rmult_0_r; apply Rmult_le_pos; lra|].
  unfold td. rewrite (N_is k : N L = 4 + n). change (L - 3)%nat with (1 + k)%nat. replace (L - 4)%nat with k by (unfold L; lia). change (signal 2) with 8%Z.
  generalize (three_sets v v_positive k) (two_sets v v_positive (1 + k)). intros X Y.
  apply (Rmult_le_compat_l (1 + n)) in X; [|lra].
  match goal with |- ?a * (?b / ?c) <= _ => replace (a * (b / c)) with b by (field; lra) end.
  replace (4 + n - 3) with (1 + n) by ring. lra.
Qed.
End Bounds.

(** With v at most 24 / B all of it is the sign of polynomials, whose coefficients in L - 115 are all positive. *)
Lemma optimal_from_moments L : (116 <= L)%nat -> Best q 2 L.
Proof.
  intros HL. apply from_inequalities; [lra | lia | lia|]. set (k := (L - 4)%nat). replace L with (4 + k)%nat by (unfold k; lia).
  assert (N : exists t, 0 < t /\ INR k = 111 + t).
  { exists (INR k - 111). split; [|ring]. assert (X : (112 <= k)%nat) by (unfold k; lia). apply le_INR in X. replace (INR 112) with 112 in X by (rewrite INR_IZR_INZ; reflexivity). lra. }
  destruct N as [t [T N]]. set (W := 4402 / 10 + 33 / 10 * t). assert (W0 : 0 < W) by (unfold W; lra).
  assert (P : pull q 2 (4 + k) (24 / W) < 0).
  { assert (X : 0 < 24 / W) by (apply Rdiv_lt_0_compat; lra). generalize (pull_by_moments k _ X). cbv zeta. rewrite plus_INR, N. cbn [INR].
    replace (64 + 33 / 10 * (1 + 1 + 1 + (111 + t))) with W by (unfold W; field).
    set (H := 4096 + _ + _ + _). intros Y. eapply Rle_lt_trans; [exact Y|].
    replace (4 - 24 / W / 4 * W + (24 / W) ^ 3 / 48 * H) with (- ((2 * W ^ 3 - 288 * H) * / W ^ 3)) by (field; lra).
    apply Ropp_lt_gt_0_contravar, Rmult_lt_0_compat; [|apply Rinv_0_lt_compat, pow_lt, W0]. unfold W, H. positive_polynomial. }
  split; [exact (zero_exists k _ P)|]. intros v Hv. assert (V := zero_positive k v Hv). assert (U := zero_below k v _ Hv P).
  set (n := INR k) in *. set (x := 24 / W) in *.
  assert (Q : v ^ 2 <= x ^ 2) by (apply pow_incr; lra).
  assert (close : forall y a b c, (4 + n) * y * 400 <= a * v - (2 + n) * (b * v) + (2 + n) * v ^ 3 * c -> 0 <= c ->
    3 * a * W ^ 2 + 576 * (2 + n) * (3 * c + 400 * (12 * (114 / 400) ^ 2 + (1 + n) * (114 / 400) ^ 3)) < 3 * (2 + n) * b * W ^ 2 ->
    3 * y + (2 + n) * Rmax (td q 2 (4 + k) v) 0 < 0).
  { intros y a b c Y C0 Z. assert (D := td_at_most v k V). fold n in D. set (m := Rmax _ _) in *. set (d := 12 * (114 / 400) ^ 2 + (1 + n) * (114 / 400) ^ 3) in *.
    assert (d0 : 0 <= d) by (unfold d; lra).
    apply Rmult_lt_reg_l with (400 * (4 + n)); [lra|]. rewrite Rmult_0_r.
    apply (Rmult_le_compat_l (400 * (2 + n))) in D; [|lra].
    assert (S : 400 * (4 + n) * (3 * y + (2 + n) * m) <= v * (3 * a - 3 * (2 + n) * b + (2 + n) * v ^ 2 * (3 * c + 400 * d))) by lra.
    eapply Rle_lt_trans; [exact S|]. rewrite <- (Rmult_0_r v). apply Rmult_lt_compat_l; [exact V|].
    assert (S' : (2 + n) * v ^ 2 * (3 * c + 400 * d) <= (2 + n) * x ^ 2 * (3 * c + 400 * d)).
    { apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; [lra | exact Q]. }
    assert (x2 : x ^ 2 = 576 * / W ^ 2) by (unfold x; field; lra). rewrite x2 in S'.
    assert (I : 0 < / W ^ 2) by (apply Rinv_0_lt_compat, pow_lt, W0).
    apply Rle_lt_trans with (/ W ^ 2 * (3 * a * W ^ 2 + 576 * (2 + n) * (3 * c + 400 * d) - 3 * (2 + n) * b * W ^ 2)).
    - apply Rle_trans with (3 * a - 3 * (2 + n) * b + (2 + n) * (576 * / W ^ 2) * (3 * c + 400 * d)); [lra|]. right. field. lra.
    - rewrite <- (Rmult_0_r (/ W ^ 2)). apply Rmult_lt_compat_l; lra. }
  apply (enough v k V Hv); fold n.
  - apply (close _ (105 / 16) (189 / 40) (63 / 800 / 24 * (3 * (8916 + 396 * (1 + n)) + 120))).
    + generalize (t4_at_most v k V Hv). fold n. lra.
    + lra.
    + rewrite N. unfold W. apply Rminus_lt_0. positive_polynomial.
  - apply (close _ (249 / 32) (189 / 80) (63 / 800 / 24 * (3 * (5034 + 198 * (1 + n)) + 60))).
    + generalize (u_at_most v k V Hv). fold n. lra.
    + lra.
    + rewrite N. unfold W. apply Rminus_lt_0. positive_polynomial.
Qed.
