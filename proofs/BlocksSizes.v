(** Block attention is optimal at every number of sets of two, q = 3 / 10: by moments for many sets, and in integers
    at one number after the other for few. The claim is [Best] of Best.v, by [Two_inequalities] of Blocks.v.

    That the pull is zero takes one mean for another: t1 is then a first difference of the slope, negative at every
    size; t4 and u are (L - 2) / L times such a difference, and what has a known sign or little weight besides. td is a
    third difference. So psi is not needed but at three sets: it is enough that 3 max (t4, u) + (L - 2) max (td, 0) < 0. *)
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

(** The sum of r (x) f (m + x). *)
Definition mix (r : law) (f : Z -> R) (m : Z) : R := over r (fun x => f (m + x)%Z).
Definition weighs (r : law) (pi : list Z -> Z) := forall pis g m, mean (pi :: pis) g m = / 400 * mix r (mean pis g) m.
Ltac weigh := intros pis g m; cbn [Blocks.mean words]; unfold patch, mix, one, i, ii, ij, cube; cbn; lra.
Lemma chances_weigh : weighs chances one. Proof. weigh. Qed.
Lemma s_weighs : weighs s_ i. Proof. weigh. Qed.
Lemma ss_weighs : weighs ss_ ii. Proof. weigh. Qed.
Lemma st_weighs : weighs st_ ij. Proof. weigh. Qed.
Lemma cube_weighs : weighs cube_ cube. Proof. weigh. Qed.
Lemma M_succ k g m : M (S k) g m = / 400 * mix chances (M k g) m.
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
Lemma mix_ext r f g m : (forall x, f x = g x) -> mix r f m = mix r g m.
Proof. intros H. apply over_ext. intros x. apply H. Qed.
Lemma mix_swap r s f m : mix r (mix s f) m = mix s (mix r f) m.
Proof.
  unfold mix. rewrite over_swap. apply over_ext. intros y. apply over_ext. intros x. f_equal. ring.
Qed.
Lemma M_ext k f g m : (forall x, f x = g x) -> M k f m = M k g m.
Proof. intros H. revert m. induction k as [|k IH]; intros m; [apply H|]. rewrite !M_succ. f_equal. now apply mix_ext. Qed.
Lemma M_mix k r f m : M k (mix r f) m = mix r (M k f) m.
Proof.
  revert m. induction k as [|k IH]; intros m; [reflexivity|]. rewrite M_succ, (mix_ext _ _ _ _ IH), mix_swap.
  unfold mix at 1 3. rewrite <- over_times. apply over_ext. intros x. now rewrite M_succ.
Qed.
Lemma M_plus k f g m : M k (fun x => f x + g x) m = M k f m + M k g m.
Proof.
  revert m. induction k as [|k IH]; intros m; [reflexivity|]. rewrite !M_succ, (mix_ext _ _ _ _ IH). unfold mix. rewrite over_plus. ring.
Qed.
Lemma M_times k c f m : M k (fun x => c * f x) m = c * M k f m.
Proof.
  revert m. induction k as [|k IH]; intros m; [reflexivity|]. rewrite !M_succ, (mix_ext _ _ _ _ IH). unfold mix. rewrite over_times. ring.
Qed.
Lemma M_const k c m : M k (fun _ => c) m = c.
Proof.
  revert m. induction k as [|k IH]; intros m; [reflexivity|]. rewrite M_succ, (mix_ext _ _ _ _ IH). unfold mix. cbn. field.
Qed.
Lemma M_pos k f m : (forall x, 0 < f x) -> 0 < M k f m.
Proof.
  intros H. revert m. induction k as [|k IH]; intros m; [apply H|]. rewrite M_succ. unfold mix. cbn [over chances].
  generalize (IH (m + -8)%Z), (IH (m + -1)%Z), (IH (m + 0)%Z), (IH (m + 1)%Z), (IH (m + 8)%Z). lra.
Qed.
Lemma M_le k f g m : (forall x, f x <= g x) -> M k f m <= M k g m.
Proof.
  intros H. revert m. induction k as [|k IH]; intros m; [apply H|]. rewrite !M_succ. unfold mix. cbn [over chances].
  generalize (IH (m + -8)%Z), (IH (m + -1)%Z), (IH (m + 0)%Z), (IH (m + 1)%Z), (IH (m + 8)%Z). lra.
Qed.
Lemma M_shift k f c m : M k f (m + c) = M k (fun x => f (x + c)%Z) m.
Proof.
  revert m. induction k as [|k IH]; intros m; [reflexivity|]. rewrite !M_succ. f_equal. apply over_ext. intros x. rewrite <- IH. f_equal. ring.
Qed.
Lemma M_flip k f m : M k f (- m) = M k (fun x => f (- x)%Z) m.
Proof.
  revert m. induction k as [|k IH]; intros m; [reflexivity|]. rewrite !M_succ. f_equal. unfold mix. cbn [over chances]. rewrite <- !IH.
  replace (- (m + -8))%Z with (- m + 8)%Z by ring. replace (- (m + 8))%Z with (- m + -8)%Z by ring.
  replace (- (m + -1))%Z with (- m + 1)%Z by ring. replace (- (m + 1))%Z with (- m + -1)%Z by ring.
  replace (- (m + 0))%Z with (- m + 0)%Z by ring. ring.
Qed.
Ltac moment := let k := fresh "k" in let IH := fresh "IH" in intros k; induction k as [|k IH]; intros m; [cbn; field|];
  rewrite M_succ, ?S_INR; unfold mix; cbn [over chances]; rewrite !IH, !plus_IZR; field.
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

Lemma mix_times r c f m : mix r (fun x => c * f x) m = c * mix r f m.
Proof. apply over_times. Qed.
Lemma mean2 r s pi pj pis g m : weighs r pi -> weighs s pj -> mean (pi :: pj :: pis) g m = / 400 ^ 2 * mix r (mix s (mean pis g)) m.
Proof. intros H K. rewrite H, (mix_ext _ _ _ _ (K pis g)), mix_times. field. Qed.
Lemma mean3 r s t pi pj pk pis g m : weighs r pi -> weighs s pj -> weighs t pk ->
  mean (pi :: pj :: pk :: pis) g m = / 400 ^ 3 * mix r (mix s (mix t (mean pis g))) m.
Proof. intros H K J. rewrite (mean2 r s) by assumption. rewrite (mix_ext r _ (fun x => / 400 * mix s (mix t (mean pis g)) x)).
  - rewrite mix_times. field.
  - intros x. rewrite (mix_ext _ _ _ _ (J pis g)). apply mix_times.
Qed.
Lemma mix_T F m : mix s_ (fun x => F (IZR x)) m = T 42 9 F (IZR m).
Proof.
  unfold mix, T. cbn [over s_]. rewrite !plus_IZR. unfold Rminus. change (IZR (-8)) with (- (8)). change (IZR (-1)) with (- (1)).
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
  assert (E : mix s_ (mix s_ (mix s_ (M n g))) 8 <= 114 ^ 3 * v ^ 3).
  { replace (mix s_ (mix s_ (mix s_ (M n g))) 8) with (M n (mix s_ (mix s_ (mix s_ g))) 8).
    - rewrite <- (M_const n (114 ^ 3 * v ^ 3) 8). apply M_le. intros x.
      rewrite (mix_ext s_ _ (fun x => T 42 9 (T 42 9 (G v)) (IZR x))); [rewrite mix_T; now apply third|].
      clear x. intros x. rewrite (mix_ext s_ _ (fun x => T 42 9 (G v) (IZR x))); [now rewrite mix_T|].
      clear x. intros x. exact (mix_T (G v) x).
    - rewrite M_mix. apply mix_ext. intros x. rewrite M_mix. apply mix_ext. intros y. apply M_mix. }
  lra.
Qed.
Lemma two_sets n : mean (i :: i :: free n) g 8 <= 4 * (114 / 400) ^ 2 * v ^ 3.
Proof.
  rewrite (mean2 s_ s_) by exact s_weighs.
  set (F := T 42 9 (T 42 9 (G v))).
  assert (S : forall x, mix s_ (mix s_ g) x = F (IZR x)).
  { intros x. rewrite (mix_ext s_ _ (fun x => T 42 9 (G v) (IZR x))); [apply mix_T|]. intros y. exact (mix_T (G v) y). }
  assert (E : mix s_ (mix s_ (M n g)) 8 = M n (fun x => F (IZR x)) 8).
  { rewrite <- (M_ext n _ _ 8 S), M_mix. apply mix_ext. intros x. symmetry. apply M_mix. }
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
Lemma q_within : 0 <= q <= 1. Proof. lra. Qed.
Lemma N_is : N L = 4 + n.
Proof. unfold N, L, n. rewrite plus_INR. cbn [INR]. ring. Qed.
Lemma n_nonneg : 0 <= n. Proof. apply pos_INR. Qed.
Lemma t1_negative : t1 q 2 L v < 0.
Proof.
  assert (B := at_block q 2 L q_within (le_n 2) ltac:(unfold L; lia) v balanced). unfold c in B. cbn [INR] in B.
  set (y1 := t1 q 2 L v) in *. set (y2 := t2 q 2 L v) in *. set (y3 := t3 q 2 L v) in *.
  assert (D : y1 - y2 < 0); [|lra]. unfold y1, y2, t1, t2. fold L. change (L - 2)%nat with (2 + k)%nat. rewrite N_is.
  change (signal 2) with 8%Z. rewrite s_weighs.
  assert (W : weighs [(-8, -9); (8, 9)]%Z iij) by (intros pis g m; cbn [Blocks.mean words]; unfold patch, mix, iij, i; cbn; lra).
  rewrite W. generalize (falls_by_two v v_positive (2 + k) 8), n_nonneg. change (8 + 1)%Z with 9%Z. change (8 - 1)%Z with 7%Z. unfold mix. cbn [over s_].
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
Proof. exact (pull_falls 3 10 2 L v v' q_within). Qed.
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
Lemma s_by_pulls m : e * / 400 * mix s_ B m = (H m - IZR m * A m) / 8 + e * (63 / 800) * (B (m + 1)%Z - B (m - 1)%Z).
Proof.
  assert (P := pull_is q 2 3 (le_n 2) (le_n 3) (2 + k) (slope v) m). change (2 + k - 1)%nat with (1 + k)%nat in P.
  rewrite cube_weighs in P. fold (pulls v) in P. change (fun m0 => IZR m0 * slope v m0) with (pulls v) in P.
  replace (INR (2 + k)) with e in P by (unfold e, n; rewrite plus_INR; reflexivity).
  rewrite P. unfold mix. cbn [over s_ cube_]. replace (m - 1)%Z with (m + -1)%Z by ring. field.
Qed.
Lemma H_zero : 9 * H 0 + 84 * H 7 + 214 * H 8 + 84 * H 9 + 9 * H 16 = 0.
Proof.
  assert (P := balanced). unfold pull in P. change (L - 1)%nat with (S (2 + k)) in P. change (signal 2) with 8%Z in P.
  change (fun m => IZR m * slope v m) with (pulls v) in P. rewrite M_succ in P. unfold mix in P. cbn [over chances] in P.
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
(** All these facts are linear, with one number S m for e / 400 mix s_ B m. *)
Ltac linear := facts; let S := fresh "S" in set (S := fun m => e * / 400 * mix s_ B m); change (fun m => e * / 400 * mix s_ B m) with S;
  repeat match goal with |- context [e * / 400 * mix s_ B ?m] => change (e * / 400 * mix s_ B m) with (S m) end; clearbody S;
  unfold mix; cbn [over s_ ss_ st_]; literal; unfold spread; intros; lra.
Lemma t4_at_most : 400 * ((4 + n) * t4 q 2 L v) <= 105 / 16 * v - e * (189 / 40 * v) + e * v ^ 3 * (63 / 800) / 24 * (3 * (8916 + 396 * (1 + n)) + 120).
Proof.
  assert (P := pos_INR k). fold n in P.
  replace (400 * ((4 + n) * t4 q 2 L v)) with (mix s_ A 8 + mix ss_ A 8 + mix ss_ (fun m => e * / 400 * mix s_ B m) 8).
  - linear.
  - rewrite mix_times. unfold t4. rewrite (N_is k : N L = 4 + n). change (L - 2)%nat with (2 + k)%nat. change (L - 3)%nat with (1 + k)%nat. change (signal 2) with 8%Z.
    rewrite s_weighs, ss_weighs, (mean2 ss_ s_) by (exact ss_weighs || exact s_weighs). unfold e. field. lra.
Qed.
Lemma u_at_most : 400 * ((4 + n) * ((t4 q 2 L v + t5 q 2 L v) / 2)) <=
  249 / 32 * v - e * (189 / 80 * v) + e * v ^ 3 * (63 / 800) / 24 * (3 * (5034 + 198 * (1 + n)) + 60).
Proof.
  assert (P := pos_INR k). fold n in P.
  replace (400 * ((4 + n) * ((t4 q 2 L v + t5 q 2 L v) / 2))) with
    (mix s_ A 8 + (mix ss_ A 8 + mix st_ A 8) / 2 + (mix ss_ (fun m => e * / 400 * mix s_ B m) 8 + mix st_ (fun m => e * / 400 * mix s_ B m) 8) / 2).
  - linear.
  - rewrite !mix_times. unfold t4, t5. rewrite (N_is k : N L = 4 + n). change (L - 2)%nat with (2 + k)%nat. change (L - 3)%nat with (1 + k)%nat. change (signal 2) with 8%Z.
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

(** With v at most 24 / B all of it is the sign of polynomials, whose coefficients in t = L - 115 are all positive. *)
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

(** * Few sets: one number after the other, in integers *)

(** The list l with weights r over it, one set more: if l begins at m, this one begins at m - 8. *)
Definition push (r : law) (l : list Z) : list Z :=
  fold_right (fun e s => plus (repeat 0%Z (Z.to_nat (fst e + 8)) ++ times (snd e) l) s) [] r.
Definition near8 (r : law) := List.Forall (fun e => (- 8 <= fst e)%Z) r.
Lemma total_shift l g c m : total l g (m + c) = total l (fun x => g (x + c)%Z) m.
Proof.
  revert m. induction l as [|x l IH]; intros m; cbn [total]; [reflexivity|]. rewrite <- IH. f_equal. f_equal. ring.
Qed.
Lemma total_add l f g m : total l (fun x => f x + g x) m = total l f m + total l g m.
Proof. revert m. induction l as [|x l IH]; intros m; cbn [total]; [ring|]. rewrite IH. ring. Qed.
Lemma push_right r l g m : near8 r -> total (push r l) g m = total l (mix r g) (m + 8).
Proof.
  intros H. induction H as [|[x w] r X _ IH]; cbn [push fold_right fst snd] in *.
  - rewrite (total_ext l _ (fun x => 0 * 0)); [rewrite total_scaled; cbn [total]; ring | intros x; unfold mix; cbn; ring].
  - rewrite total_plus, total_zeros, total_times. fold (push r l). rewrite IH, Z2Nat.id by lia.
    change (mix ((x, w) :: r) g) with (fun y => IZR w * g (y + x)%Z + mix r g y). rewrite total_add, total_scaled. do 2 f_equal.
    rewrite <- total_shift. f_equal. ring.
Qed.
Definition mul_law (c : Z) (r : law) : law := map (fun e => (fst e, c * snd e)%Z) r.
Lemma mix_mul c r f m : mix (mul_law c r) f m = IZR c * mix r f m.
Proof.
  unfold mix. induction r as [|[x w] r IH]; cbn [mul_law map over fst snd]; [ring|]. fold (mul_law c r). rewrite IH, mult_IZR. ring.
Qed.
Lemma mix_app r s f m : mix (r ++ s) f m = mix r f m + mix s f m.
Proof. unfold mix. induction r as [|[x w] r IH]; cbn [app over]; [ring|]. rewrite IH. ring. Qed.
Definition norm (r : law) : Z := fold_right (fun e s => (Z.abs (snd e) + s)%Z) 0%Z r.
Lemma mix_bound r f B m : (forall x, Rabs (f x) <= B) -> Rabs (mix r f m) <= IZR (norm r) * B.
Proof.
  intros H. unfold mix. induction r as [|[x w] r IH]; cbn [over norm fold_right snd]; [rewrite Rabs_R0; lra|]. fold (norm r).
  rewrite plus_IZR, abs_IZR. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, Rmult_plus_distr_r. apply Rplus_le_compat; [|exact IH].
  apply Rmult_le_compat_l; [apply Rabs_pos | apply H].
Qed.

(** Each of t4, t4 + t5, td and the pull is the mean of [X] over the other k sets, for some weights r1, r2, r3. *)
Definition X (r1 r2 r3 : law) (g : Z -> R) m := mix chances (mix r2 (mix r1 g)) m + mix s_ (mix r3 (mix r1 g)) m.
Definition together (r1 r2 r3 : law) (l1 ls : list Z) := push r1 (plus (push r2 l1) (push r3 ls)).
Definition bound (r1 r2 r3 : law) : Z := (norm chances * (norm r2 * norm r1) + norm s_ * (norm r3 * norm r1))%Z.
Definition fits r1 r2 r3 := near8 r1 /\ near8 r2 /\ near8 r3.
Ltac listed := unfold near8; repeat (apply Forall_cons; [discriminate|]); apply Forall_nil.
Lemma near_chances : near8 chances. Proof. listed. Qed.
Lemma near_s : near8 s_. Proof. listed. Qed.
Lemma near_ss : near8 ss_. Proof. listed. Qed.
Lemma near_st : near8 st_. Proof. listed. Qed.
Lemma near_cube : near8 cube_. Proof. listed. Qed.
Lemma near_nil : near8 []. Proof. listed. Qed.
Lemma near_app r s : near8 r -> near8 s -> near8 (r ++ s). Proof. intros. now apply Forall_app. Qed.
Lemma near_mul c r : near8 r -> near8 (mul_law c r). Proof. intros H. unfold near8, mul_law. rewrite Forall_map. exact H. Qed.
Ltac fit := repeat split; repeat first [apply near_chances | apply near_s | apply near_ss | apply near_st | apply near_cube | apply near_nil | apply near_app | apply near_mul].
Lemma together_right r1 r2 r3 l g m : fits r1 r2 r3 ->
  total (together r1 r2 r3 (push chances l) (push s_ l)) g m = total l (X r1 r2 r3 g) (m + 24).
Proof.
  intros [H1 [H2 H3]]. unfold together, X. rewrite push_right, total_plus, !push_right by (assumption || apply near_chances || apply near_s).
  rewrite total_add. replace (m + 8 + 8 + 8)%Z with (m + 24)%Z by ring. f_equal; apply total_ext; intros x; apply mix_swap.
Qed.
Lemma bound_right r1 r2 r3 g m : (forall x, Rabs (g x) <= 1) -> X r1 r2 r3 g m <= IZR (bound r1 r2 r3).
Proof.
  intros H. unfold X, bound. rewrite plus_IZR, !mult_IZR.
  assert (H1 : forall x, Rabs (mix r1 g x) <= IZR (norm r1)) by (intros x; rewrite <- (Rmult_1_r (IZR (norm r1))); now apply mix_bound).
  generalize (mix_bound chances _ _ m (fun x => mix_bound r2 _ _ x H1)), (mix_bound s_ _ _ m (fun x => mix_bound r3 _ _ x H1)).
  generalize (Rle_abs (mix chances (mix r2 (mix r1 g)) m)), (Rle_abs (mix s_ (mix r3 (mix r1 g)) m)). lra.
Qed.
Lemma M_X k r1 r2 r3 g m : M k (X r1 r2 r3 g) m = X r1 r2 r3 (M k g) m.
Proof.
  assert (E : forall r x, M k (mix r (mix r1 g)) x = mix r (mix r1 (M k g)) x).
  { intros r x. rewrite M_mix. apply mix_ext. intros y. apply M_mix. }
  unfold X. rewrite M_plus, !M_mix. f_equal; apply mix_ext; intros x; apply E.
Qed.

(** The slopes at -K, ..., K, from both sides, in units of 1 / fine; lo and hi enclose exp (- v) in units of 1 / one. *)
Fixpoint powers (mul : Z -> Z -> Z) (weigh : Z -> Z) (K : nat) (v x : Z) : list Z :=
  match K with O => [] | S K => let v := mul v x in weigh v :: powers mul weigh K v x end.
Definition half : Z := Eval compute in (fine / 2)%Z.
Definition side (ws others : list Z) : list Z := rev (map (fun x => (fine - x)%Z) others) ++ half :: ws.
Lemma powers_length mul weigh K v x : length (powers mul weigh K v x) = K.
Proof. revert v. induction K as [|K IH]; intros v; cbn [powers length]; [reflexivity|]. now rewrite IH. Qed.
Lemma powers_right (c : R) mul weigh (near fit : Z -> R -> Prop) x :
  0 < c -> (forall x y r s, 0 <= r -> 0 <= s -> near x r -> near y s -> near (mul x y) (r * s)) ->
  (forall v r, 0 <= r -> near v r -> fit (weigh v) (logit r)) -> near x c ->
  forall K k v, near v (c ^ k) -> All (fun y k => fit y (logit (c ^ k))) (S k) (powers mul weigh K v x).
Proof.
  intros P Mul Weigh Hx. induction K as [|K IH]; intros k v V; cbn [powers All]; [exact Logic.I|].
  assert (Q : forall j, 0 <= c ^ j) by (intros; now apply Rlt_le, pow_lt).
  assert (V' : near (mul v x) (c ^ S k)) by (rewrite <- tech_pow_Rmult, Rmult_comm; apply Mul; auto using Rlt_le).
  split; [now apply Weigh | now apply IH].
Qed.
Lemma fits_back (given : Z -> nat -> Prop) (ok : Z -> Z -> Prop) l k : (forall x j, given x j -> ok (fine - x)%Z (- Z.of_nat j)%Z) ->
  All given k l -> Fits ok (1 - Z.of_nat k - Z.of_nat (length l)) (rev (map (fun x => (fine - x)%Z) l)).
Proof.
  intros H. revert k. induction l as [|x l IH]; intros k A; cbn [map rev]; [exact Logic.I|]. destruct A as [A A']. apply fits_app.
  - specialize (IH (S k) A'). cbn [length]. replace (1 - Z.of_nat k - Z.of_nat (S (length l)))%Z with (1 - Z.of_nat (S k) - Z.of_nat (length l))%Z by lia. exact IH.
  - rewrite rev_length, map_length. cbn [length Fits]. split; [|exact Logic.I].
    replace (1 - Z.of_nat k - Z.of_nat (S (length l)) + Z.of_nat (length l))%Z with (- Z.of_nat k)%Z by lia. now apply H.
Qed.
Lemma fits_on (given : Z -> nat -> Prop) (ok : Z -> Z -> Prop) l k : (forall x j, given x j -> ok x (Z.of_nat j)) ->
  All given k l -> Fits ok (Z.of_nat k) l.
Proof.
  intros H. revert k. induction l as [|x l IH]; intros k A; cbn [Fits]; [exact Logic.I|]. destruct A as [A A']. split; [now apply H|].
  replace (Z.of_nat k + 1)%Z with (Z.of_nat (S k)) by lia. now apply IH.
Qed.
Lemma side_right (f h : Z -> nat -> Prop) (ok : Z -> Z -> Prop) ws others : (forall x j, f x j -> ok x (Z.of_nat j)) ->
  (forall x j, h x j -> ok (fine - x)%Z (- Z.of_nat j)%Z) -> ok half 0%Z -> All f 1 ws -> All h 1 others ->
  Fits ok (- Z.of_nat (length others)) (side ws others).
Proof.
  intros F H Z0 A B. unfold side. apply fits_app.
  - generalize (fits_back h ok others 1 H B). now replace (1 - Z.of_nat 1 - Z.of_nat (length others))%Z with (- Z.of_nat (length others))%Z by lia.
  - rewrite rev_length, map_length. replace (- Z.of_nat (length others) + Z.of_nat (length others))%Z with 0%Z by lia.
    split; [exact Z0|]. exact (fits_on f ok ws 1 F A).
Qed.
Lemma slope_on v j : slope v (Z.of_nat j) = logit (exp (- v) ^ j).
Proof.
  assert (E : forall x, exp x ^ j = exp (INR j * x)).
  { intros x. induction j as [|j IH]; [now rewrite Rmult_0_l, exp_0|]. rewrite S_INR, <- tech_pow_Rmult, IH, Rmult_plus_distr_r, exp_plus, Rmult_1_l. ring. }
  unfold slope, logit. rewrite E. replace (INR j * - v) with (- (v * INR j)) by ring. rewrite exp_Ropp, <- INR_IZR_INZ.
  generalize (exp_pos (v * INR j)). intros P. field. lra.
Qed.
Lemma slope_back v m : slope v (- m) = 1 - slope v m.
Proof. unfold slope. rewrite opp_IZR. exact (G_flip v (IZR m)). Qed.
Section Tables.
Variables (v : R) (lo hi : Z) (K : nat).
Hypothesis lo_right : least lo (exp (- v)).
Hypothesis hi_right : most hi (exp (- v)).
Let downs := powers down w_down K Sizes.one lo.
Let ups := powers up w_up K Sizes.one hi.
Lemma downs_right : All (fun x j => IZR x <= IZR fine * slope v (Z.of_nat j)) 1 downs.
Proof.
  assert (A := powers_right (exp (- v)) down w_down least (fun x r => IZR x <= IZR fine * r) lo (exp_pos _) down_right w_down_right lo_right K 0%nat Sizes.one).
  cbn [pow] in A. assert (L : least Sizes.one 1) by (split; [discriminate | lra]). specialize (A L). revert A. unfold downs. generalize 1%nat (powers down w_down K Sizes.one lo). intros n l. revert n.
  induction l as [|x l IH]; intros n; cbn [All]; [easy|]. rewrite slope_on. intros [A B]. split; [exact A | now apply IH].
Qed.
Lemma ups_right : All (fun x j => IZR fine * slope v (Z.of_nat j) <= IZR x) 1 ups.
Proof.
  assert (A := powers_right (exp (- v)) up w_up most (fun x r => IZR fine * r <= IZR x) hi (exp_pos _) up_right w_up_right hi_right K 0%nat Sizes.one).
  cbn [pow] in A. assert (L : most Sizes.one 1) by (unfold most; lra). specialize (A L). revert A. unfold ups. generalize 1%nat (powers up w_up K Sizes.one hi). intros n l. revert n.
  induction l as [|x l IH]; intros n; cbn [All]; [easy|]. rewrite slope_on. intros [A B]. split; [exact A | now apply IH].
Qed.
Lemma half_right : IZR half = IZR fine * slope v 0.
Proof. unfold slope. rewrite Rmult_0_r, exp_0. unfold half, fine. lra. Qed.
Lemma low_side : Fits (fun x m => IZR x <= IZR fine * slope v m) (- Z.of_nat K) (side downs ups).
Proof.
  replace K with (length ups) at 1 by apply powers_length. refine (side_right _ _ _ downs ups (fun x j H => H) _ _ downs_right ups_right).
  - intros x j H. rewrite slope_back, minus_IZR. lra.
  - right. apply half_right.
Qed.
Lemma high_side : Fits (fun x m => IZR fine * slope v m <= IZR x) (- Z.of_nat K) (side ups downs).
Proof.
  replace K with (length downs) at 1 by apply powers_length. refine (side_right _ _ _ ups downs (fun x j H => H) _ _ ups_right downs_right).
  - intros x j H. rewrite slope_back, minus_IZR. lra.
  - right. symmetry. apply half_right.
Qed.
End Tables.

(** The sum of x y over the lists, y the larger or the smaller one, as the sign of x asks; past the tables the
    slope is between 0 and 1. *)
Fixpoint large (l low high : list Z) : Z :=
  match l with
  | [] => 0
  | x :: l =>
    let (y, low) := match low with [] => (0, []) | y :: r => (y, r) end in
    let (z, high) := match high with [] => (fine, []) | z :: r => (z, r) end in
    match x with Z0 => 0 | Zpos _ => x * z | Zneg _ => x * y end + large l low high
  end%Z.
Lemma large_right g : (forall x, 0 <= g x <= 1) -> forall l low high m,
  Fits (fun x m => IZR x <= IZR fine * g m) m low -> Fits (fun x m => IZR fine * g m <= IZR x) m high ->
  IZR fine * total l g m <= IZR (large l low high).
Proof.
  intros B. assert (F : 0 < IZR fine) by (apply IZR_lt; reflexivity). induction l as [|x l IH]; intros low high m Hl Hh; [cbn [total large]; lra|].
  assert (E : exists y low', (match low with [] => (0, []) | y :: r => (y, r) end)%Z = (y, low') /\ IZR y <= IZR fine * g m /\
    Fits (fun x m => IZR x <= IZR fine * g m) (m + 1) low').
  { destruct low as [|y r]; [exists 0%Z, [] | exists y, r]; (split; [reflexivity|]); [|exact Hl]. split; [|exact Logic.I]. generalize (B m). nra. }
  assert (E' : exists z high', (match high with [] => (fine, []) | z :: r => (z, r) end)%Z = (z, high') /\ IZR fine * g m <= IZR z /\
    Fits (fun x m => IZR fine * g m <= IZR x) (m + 1) high').
  { destruct high as [|z r]; [exists fine, [] | exists z, r]; (split; [reflexivity|]); [|exact Hh]. split; [|exact Logic.I]. generalize (B m). nra. }
  destruct E as [y [low' [Ey [Y L']]]], E' as [z [high' [Ez [Z' H']]]]. cbn [total large]. rewrite Ey, Ez. specialize (IH low' high' (m + 1)%Z L' H').
  rewrite plus_IZR, Rmult_plus_distr_l. apply Rplus_le_compat; [|exact IH]. destruct x as [|p|p]; [lra | |]; rewrite mult_IZR.
  - assert (0 <= IZR (Z.pos p)) by (apply IZR_le; lia). nra.
  - assert (IZR (Z.neg p) <= 0) by (apply IZR_le; lia). nra.
Qed.

Definition upper r1 r2 r3 (l l1 ls low high : list Z) : Z :=
  (bound r1 r2 r3 * (Sizes.scale - sum l) * fine + large (repeat 0%Z 16 ++ together r1 r2 r3 l1 ls) low high)%Z.
Lemma total_one l m : total l (fun _ => 1) m = IZR (sum l).
Proof. revert m. induction l as [|x l IH]; intros m; [reflexivity|]. cbn [total sum fold_right]. fold (sum l). rewrite IH, plus_IZR. ring. Qed.
Section At_size.
Variables (k : nat) (off : Z) (l : list Z).
Hypothesis law_right : Under (M k) Sizes.scale off l.
Lemma upper_right v r1 r2 r3 low high : fits r1 r2 r3 ->
  Fits (fun x m => IZR x <= IZR fine * slope v m) (off - 32) low -> Fits (fun x m => IZR fine * slope v m <= IZR x) (off - 32) high ->
  IZR fine * IZR Sizes.scale * X r1 r2 r3 (M k (slope v)) 8 <= IZR (upper r1 r2 r3 l (push chances l) (push s_ l) low high).
Proof.
  intros Hr Hl Hh. assert (F : 0 < IZR fine) by (apply IZR_lt; reflexivity). set (b := IZR (bound r1 r2 r3)).
  assert (range : forall x, 0 <= slope v x <= 1) by (intros x; generalize (G_range v (IZR x)); unfold slope, G; lra).
  set (h := fun x => b * 1 + -1 * X r1 r2 r3 (slope v) x).
  assert (h0 : forall x, 0 <= h x).
  { intros x. unfold h. assert (H := bound_right r1 r2 r3 (slope v) x). fold b in H. specialize (H (fun y => ltac:(apply Rabs_le; generalize (range y); lra))). lra. }
  assert (U := law_right h h0 8%Z). unfold h in U. rewrite M_plus, M_const, M_times, M_X, total_add, !total_scaled, total_one in U.
  assert (W := large_right (slope v) range (repeat 0%Z 16 ++ together r1 r2 r3 (push chances l) (push s_ l)) low high (off - 32) Hl Hh).
  rewrite total_zeros, together_right in W by exact Hr. replace (off - 32 + Z.of_nat 16 + 24)%Z with (8 + off)%Z in W by lia.
  unfold upper. rewrite plus_IZR, !mult_IZR, minus_IZR. fold b. apply (Rmult_le_compat_l (IZR fine)) in U; lra.
Qed.

(** The best v has Y - 1 < 2^14 exp (- v) < Y + 1, and at every such v both inequalities hold. *)
Definition unit : Z := Eval compute in (Sizes.one / 2 ^ 14)%Z.
Let z := Z.of_nat k.
Definition pull_law (c : Z) : law := mul_law c (mul_law 8 chances ++ mul_law (z + 3) cube_).
Definition settles (Y : Z) : bool :=
  let K := Z.to_nat (32 - off) in
  let lo := ((Y + -1) * unit)%Z in let hi := ((Y + 1) * unit)%Z in
  let l1 := push chances l in let ls := push s_ l in
  let dl := powers down w_down K Sizes.one lo in let ul := powers up w_up K Sizes.one lo in
  let dh := powers down w_down K Sizes.one hi in let uh := powers up w_up K Sizes.one hi in
  let low := side dl uh in let high := side uh dl in
  let t4 := upper chances (s_ ++ ss_) (mul_law (z + 2) ss_) l l1 ls low high in
  let t45 := upper chances (mul_law 2 s_ ++ ss_ ++ st_) (mul_law (z + 2) (ss_ ++ st_)) l l1 ls low high in
  let td := upper s_ (mul_law 3 s_) (mul_law (z + 1) s_) l l1 ls low high in
  (Z.of_nat K =? 32 - off)%Z && (1 <? Y)%Z &&
  (upper chances (pull_law (-1)) [] l l1 ls (side dh uh) (side uh dh) <? 0)%Z &&
  (upper chances (pull_law 1) [] l l1 ls (side dl ul) (side ul dl) <? 0)%Z &&
  (t4 <? 0)%Z && (t45 <? 0)%Z && (3 * t4 + (z + 2) * td <? 0)%Z && (3 * t45 + 2 * (z + 2) * td <? 0)%Z.

Notation sets r s t v := (mix r (mix s (mix t (M k (slope v)))) 8).
Lemma pull_law_right c v : 400 ^ 3 * (IZR c * pull q 2 (4 + k) v) = X chances (pull_law c) [] (M k (slope v)) 8.
Proof.
  unfold pull. change (4 + k - 1)%nat with (S (2 + k)). change (signal 2) with 8%Z. rewrite (pull_is q 2 3 (le_n 2) (le_n 3)).
  change (S (2 + k) - 1)%nat with (S (S k)).
  rewrite (mean3 cube_ chances chances cube one one (free k) (slope v) 8 cube_weighs chances_weigh chances_weigh : mean (cube :: free (S (S k))) (slope v) 8 = _).
  rewrite (mean3 chances chances chances one one one (free k) (slope v) 8 chances_weigh chances_weigh chances_weigh : M (S (2 + k)) (slope v) 8 = _).
  unfold X. change (mix s_ (mix [] (mix chances (M k (slope v)))) 8) with (mix s_ (fun _ => 0) 8).
  rewrite (mix_swap chances (pull_law c)). unfold pull_law. rewrite mix_mul, mix_app, !mix_mul.
  replace (mix s_ (fun _ => 0) 8) with 0 by (unfold mix; cbn; ring).
  replace (INR (S (2 + k))) with (IZR (z + 3)) by (unfold z; rewrite INR_IZR_INZ; f_equal; lia). field.
Qed.
Lemma t4_law_right v : 400 ^ 3 * ((4 + INR k) * t4 q 2 (4 + k) v) = X chances (s_ ++ ss_) (mul_law (z + 2) ss_) (M k (slope v)) 8.
Proof.
  unfold t4. rewrite N_is. change (4 + k - 2)%nat with (S (S k)). change (4 + k - 3)%nat with (S k). change (signal 2) with 8%Z.
  rewrite (mean3 s_ chances chances i one one (free k) (slope v) 8 s_weighs chances_weigh chances_weigh : mean (i :: free (S (S k))) (slope v) 8 = _).
  rewrite (mean3 ss_ chances chances ii one one (free k) (slope v) 8 ss_weighs chances_weigh chances_weigh : mean (ii :: free (S (S k))) (slope v) 8 = _).
  rewrite (mean3 ss_ s_ chances ii i one (free k) (slope v) 8 ss_weighs s_weighs chances_weigh : mean (ii :: i :: free (S k)) (slope v) 8 = _).
  unfold X. rewrite (mix_swap chances (s_ ++ ss_)), mix_app, (mix_swap s_ (mul_law _ _)), mix_mul.
  replace (IZR (z + 2)) with (INR k + 2) by (unfold z; rewrite INR_IZR_INZ, plus_IZR; reflexivity).
  generalize (pos_INR k). intros P. field. lra.
Qed.
Lemma t45_law_right v : 400 ^ 3 * ((4 + INR k) * (t4 q 2 (4 + k) v + t5 q 2 (4 + k) v)) =
  X chances (mul_law 2 s_ ++ ss_ ++ st_) (mul_law (z + 2) (ss_ ++ st_)) (M k (slope v)) 8.
Proof.
  rewrite 2!Rmult_plus_distr_l, t4_law_right. unfold t5. rewrite N_is. change (4 + k - 2)%nat with (S (S k)). change (4 + k - 3)%nat with (S k). change (signal 2) with 8%Z.
  rewrite (mean3 s_ chances chances i one one (free k) (slope v) 8 s_weighs chances_weigh chances_weigh : mean (i :: free (S (S k))) (slope v) 8 = _).
  rewrite (mean3 st_ chances chances ij one one (free k) (slope v) 8 st_weighs chances_weigh chances_weigh : mean (ij :: free (S (S k))) (slope v) 8 = _).
  rewrite (mean3 st_ s_ chances ij i one (free k) (slope v) 8 st_weighs s_weighs chances_weigh : mean (ij :: i :: free (S k)) (slope v) 8 = _).
  unfold X. rewrite (mix_swap chances (s_ ++ ss_)), mix_app, (mix_swap s_ (mul_law (z + 2) ss_)), mix_mul.
  rewrite (mix_swap chances (mul_law 2 s_ ++ _)), !mix_app, mix_mul, (mix_swap s_ (mul_law _ _)), mix_mul, mix_app.
  replace (IZR (z + 2)) with (INR k + 2) by (unfold z; rewrite INR_IZR_INZ, plus_IZR; reflexivity).
  generalize (pos_INR k). intros P. field. lra.
Qed.
Lemma td_law_right v : 400 ^ 3 * ((4 + INR k) * td q 2 (4 + k) v) = X s_ (mul_law 3 s_) (mul_law (z + 1) s_) (M k (slope v)) 8.
Proof.
  unfold td. rewrite N_is. change (4 + k - 3)%nat with (S k). replace (4 + k - 4)%nat with k by lia. change (signal 2) with 8%Z.
  rewrite (mean3 s_ s_ chances i i one (free k) (slope v) 8 s_weighs s_weighs chances_weigh : mean (i :: i :: free (S k)) (slope v) 8 = _).
  rewrite (mean3 s_ s_ s_ i i i (free k) (slope v) 8 s_weighs s_weighs s_weighs).
  unfold X. rewrite (mix_swap chances (mul_law _ _)), (mix_swap s_ (mul_law _ _)), !mix_mul.
  rewrite (mix_ext s_ (mix chances (mix s_ (M k (slope v)))) (mix s_ (mix chances (M k (slope v))))) by (intros x; apply mix_swap).
  replace (IZR (z + 1)) with (INR k + 1) by (unfold z; rewrite INR_IZR_INZ, plus_IZR; reflexivity).
  generalize (pos_INR k). intros P. field. lra.
Qed.
Lemma least_of Y v : (0 <= Y)%Z -> IZR Y / 2 ^ 14 <= exp (- v) -> least (Y * unit) (exp (- v)).
Proof.
  intros P H. split; [unfold unit; lia|]. rewrite mult_IZR. unfold unit, Sizes.one. lra.
Qed.
Lemma most_of Y v : exp (- v) <= IZR Y / 2 ^ 14 -> most (Y * unit) (exp (- v)).
Proof. intros H. unfold most. rewrite mult_IZR. unfold unit, Sizes.one. lra. Qed.
Lemma settles_right Y : settles Y = true -> Best q 2 (4 + k).
Proof.
  unfold settles. cbv zeta. rewrite !andb_true_iff, !Z.ltb_lt, Z.eqb_eq. set (K := Z.to_nat (32 - off)).
  intros [[[[[[[EK Y1] P1] P2] C1] C2] C3] C4]. replace (32 - off)%Z with (- (off - 32))%Z in EK by ring.
  assert (F : 0 < IZR fine * IZR Sizes.scale) by (apply Rmult_lt_0_compat; apply IZR_lt; reflexivity).
  assert (T : forall v lo hi r1 r2 r3, fits r1 r2 r3 -> least lo (exp (- v)) -> most hi (exp (- v)) ->
    IZR fine * IZR Sizes.scale * X r1 r2 r3 (M k (slope v)) 8 <=
    IZR (upper r1 r2 r3 l (push chances l) (push s_ l) (side (powers down w_down K Sizes.one lo) (powers up w_up K Sizes.one hi))
      (side (powers up w_up K Sizes.one hi) (powers down w_down K Sizes.one lo)))).
  { intros v lo hi r1 r2 r3 Hr Hl Hh. apply (upper_right v r1 r2 r3 _ _ Hr); replace (off - 32)%Z with (- Z.of_nat K)%Z by lia;
      [now apply low_side | now apply high_side]. }
  assert (pull_fits : forall c, fits chances (pull_law c) []) by (intros c; unfold pull_law; fit).
  assert (power : 0 < 2 ^ 14) by lra.
  assert (Yp : forall c, (-1 <= c)%Z -> 0 < IZR (Y + c) / 2 ^ 14) by (intros c Hc; apply Rdiv_lt_0_compat; [apply IZR_lt; lia | exact power]).
  set (far := fun c => - ln (IZR (Y + c) / 2 ^ 14)).
  assert (E : forall c, (-1 <= c)%Z -> exp (- far c) = IZR (Y + c) / 2 ^ 14) by (intros c Hc; unfold far; rewrite Ropp_involutive; apply exp_ln, Yp, Hc).
  assert (near : 0 < pull q 2 (4 + k) (far 1%Z)).
  { generalize (T (far 1%Z) ((Y + 1) * unit)%Z ((Y + 1) * unit)%Z _ _ _ (pull_fits (-1)%Z)
      (least_of (Y + 1)%Z _ ltac:(lia) (Req_le _ _ (eq_sym (E 1%Z ltac:(lia))))) (most_of _ _ (Req_le _ _ (E 1%Z ltac:(lia))))).
    rewrite <- pull_law_right. apply IZR_lt in P1. intros H. assert (N : IZR fine * IZR Sizes.scale * (400 ^ 3 * (-1 * pull q 2 (4 + k) (far 1%Z))) < 0) by lra.
    nra. }
  assert (beyond : pull q 2 (4 + k) (far (-1)%Z) < 0).
  { generalize (T (far (-1)%Z) ((Y + -1) * unit)%Z ((Y + -1) * unit)%Z _ _ _ (pull_fits 1%Z)
      (least_of (Y + -1)%Z _ ltac:(lia) (Req_le _ _ (eq_sym (E (-1)%Z ltac:(lia))))) (most_of _ _ (Req_le _ _ (E (-1)%Z ltac:(lia))))).
    rewrite <- pull_law_right. apply IZR_lt in P2. intros H. assert (N : IZR fine * IZR Sizes.scale * (400 ^ 3 * (1 * pull q 2 (4 + k) (far (-1)%Z))) < 0) by lra.
    nra. }
  apply from_inequalities; [lra | lia | lia|]. split; [exact (zero_exists k _ beyond)|]. intros v Hv.
  assert (V := zero_positive k v Hv). assert (A := zero_above k v _ Hv near). assert (B := zero_below k v _ Hv beyond).
  assert (Hl : least ((Y + -1) * unit) (exp (- v))).
  { apply least_of; [lia|]. rewrite <- (E (-1)%Z) by lia. apply Rlt_le, exp_increasing. lra. }
  assert (Hh : most ((Y + 1) * unit) (exp (- v))).
  { apply most_of. rewrite <- (E 1%Z) by lia. apply Rlt_le, exp_increasing. lra. }
  generalize (T v _ _ chances (s_ ++ ss_) (mul_law (z + 2) ss_) ltac:(fit) Hl Hh).
  generalize (T v _ _ chances (mul_law 2 s_ ++ ss_ ++ st_) (mul_law (z + 2) (ss_ ++ st_)) ltac:(fit) Hl Hh).
  generalize (T v _ _ s_ (mul_law 3 s_) (mul_law (z + 1) s_) ltac:(fit) Hl Hh).
  rewrite <- t4_law_right, <- t45_law_right, <- td_law_right.
  assert (n0 := pos_INR k). assert (Z2 : IZR (z + 2) = 2 + INR k) by (unfold z; rewrite INR_IZR_INZ, plus_IZR; ring).
  apply IZR_lt in C1, C2, C3, C4. revert C3 C4. rewrite !plus_IZR, !mult_IZR, Z2. revert C1 C2.
  repeat match goal with |- context [upper ?a ?b ?c ?d ?e ?f ?g ?h] => generalize (IZR (upper a b c d e f g h)); intro end.
  set (W := IZR fine * IZR Sizes.scale) in *.
  assert (sign : forall y, W * (400 ^ 3 * ((4 + INR k) * y)) < 0 -> y < 0).
  { intros y Hy. apply Rnot_le_lt. intros N. assert (0 <= W * (400 ^ 3 * ((4 + INR k) * y))); [|lra].
    repeat apply Rmult_le_pos; lra. }
  intros C1 C2 C3 C4 D5 D4 D3. apply (enough v k V Hv); unfold Rmax; destruct (Rle_dec _ _) as [S | S].
  - rewrite Rmult_0_r, Rplus_0_r. generalize (sign _ (Rle_lt_trans _ _ _ D3 C1)). lra.
  - apply sign. apply (Rmult_le_compat_l (2 + INR k)) in D5; lra.
  - rewrite Rmult_0_r, Rplus_0_r. generalize (sign _ (Rle_lt_trans _ _ _ D4 C2)). lra.
  - apply sign. apply (Rmult_le_compat_l (2 + INR k)) in D5; lra.
Qed.
End At_size.

(** One witness Y for each number of sets, from k + 4 on. *)
Definition set_more (off : Z) (l : list Z) : Z * list Z := trim (off - 8) (map (fun x => x / 400)%Z (push chances l)).
Lemma set_more_right k off l : Under (M k) Sizes.scale off l -> Under (M (S k)) Sizes.scale (fst (set_more off l)) (snd (set_more off l)).
Proof.
  intros U. apply under_trim, under_divided; [reflexivity|]. intros g g0 m. rewrite push_right by apply near_chances.
  replace (m + (off - 8) + 8)%Z with (m + off)%Z by ring. eapply Rle_trans; [apply (U (mix chances g))|].
  - intros x. unfold mix. cbn [over chances]. generalize (g0 (x + -8)%Z) (g0 (x + -1)%Z) (g0 (x + 0)%Z) (g0 (x + 1)%Z) (g0 (x + 8)%Z). lra.
  - rewrite M_mix, M_succ, mult_IZR. right. field.
Qed.
Fixpoint all_settle (k : nat) (off : Z) (l : list Z) (Ys : list Z) : bool :=
  match Ys with
  | [] => true
  | Y :: Ys => if settles k off l Y then let (off', l') := set_more off l in all_settle (S k) off' l' Ys else false
  end.
Lemma all_settle_right Ys : forall k off l, Under (M k) Sizes.scale off l -> all_settle k off l Ys = true ->
  forall j, (j < length Ys)%nat -> Best q 2 (4 + k + j).
Proof.
  induction Ys as [|Y Ys IH]; intros k off l U R j J; [cbn in J; lia|]. cbn [all_settle] in R. destruct (settles k off l Y) eqn:D; [|discriminate].
  destruct j as [|j].
  - rewrite Nat.add_0_r. exact (settles_right k off l U Y D).
  - assert (U' := set_more_right k off l U). destruct (set_more off l) as [off' l']. cbn [fst snd] in U'. cbn [length] in J.
    replace (4 + k + S j)%nat with (4 + S k + j)%nat by lia. apply (IH (S k) off' l' U' R). lia.
Qed.
(** From four sets on. *)
Definition all_from_four (Ys : list Z) : bool := all_settle 0 0 [Sizes.scale] Ys.
Lemma all_from_four_right Ys : all_from_four Ys = true -> forall j, (j < length Ys)%nat -> Best q 2 (4 + j).
Proof.
  intros R j J. apply (all_settle_right Ys 0 0 [Sizes.scale]); [|exact R | exact J]. intros g G m. cbn [total free mean repeat]. rewrite Z.add_0_r. cbn. lra.
Qed.
