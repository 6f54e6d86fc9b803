(** The first move at one number of sets after the other, in integers alone.

    The witness u is - log c for a fraction c = Y / (Y + 64), so that exp (u m^3) is c^(- m^3); and the law of the
    random patches is known from below, in integers over [scale], from one size to the next. *)
From Coq Require Import Reals ZArith List Lra Lia Bool.
From Book Require Import Ball Vote.
Import ListNotations.
Open Scope R_scope.

Definition one : Z := Eval compute in (2 ^ 40)%Z.
Definition fine : Z := Eval compute in (2 ^ 20)%Z.
Definition scale : Z := Eval compute in (2 ^ 64)%Z.

(** * The law from below *)

(** The list, in units of 1 / s, is nowhere more than the chances in the mean M. *)
Definition Under (M : (Z -> R) -> Z -> R) s off l := forall g, (forall x, 0 <= g x) -> forall m, total l g (m + off) <= IZR s * M g m.
Lemma total_ext l g h m : (forall x, g x = h x) -> total l g m = total l h m.
Proof. intros H. revert m. induction l as [|c l IH]; intros m; cbn [total]; [reflexivity|]. now rewrite H, IH. Qed.
Lemma under_divided M c s off l : (0 < c)%Z -> Under M (c * s) off l -> Under M s off (map (fun x => x / c)%Z l).
Proof.
  intros P H g G m. apply Rmult_le_reg_l with (IZR c); [now apply IZR_lt|]. rewrite <- Rmult_assoc, <- mult_IZR.
  refine (Rle_trans _ _ _ _ (H g G m)). generalize (m + off)%Z. clear - P G. induction l as [|x l IH]; intros m; cbn [map total]; [lra|].
  rewrite Rmult_plus_distr_l. apply Rplus_le_compat; [|apply IH]. rewrite <- Rmult_assoc, <- mult_IZR.
  apply Rmult_le_compat_r; [apply G|]. apply IZR_le, Z.mul_div_le, P.
Qed.
Lemma under_cons M s off l : Under M s off (0%Z :: l) -> Under M s (off + 1) l.
Proof.
  intros H g G m. specialize (H g G m). cbn [total] in H. replace (m + (off + 1))%Z with (m + off + 1)%Z by ring. lra.
Qed.
Lemma under_init M s off l : Under M s off (l ++ [0%Z]) -> Under M s off l.
Proof.
  intros H g G m. rewrite <- (Rplus_0_r (total l g (m + off))). refine (Rle_trans _ _ _ (Req_le _ _ _) (H g G m)).
  generalize (m + off)%Z. clear. induction l as [|x l IH]; intros m; cbn [total app]; [lra|]. rewrite <- IH. ring.
Qed.
Fixpoint trim_left (off : Z) (l : list Z) : Z * list Z :=
  match l with 0%Z :: r => trim_left (off + 1) r | _ => (off, l) end.
Fixpoint no_zeros (l : list Z) : list Z := match l with 0%Z :: r => no_zeros r | _ => l end.
Definition trim (off : Z) (l : list Z) : Z * list Z := let (o, r) := trim_left off l in (o, rev (no_zeros (rev r))).
Lemma under_trim M s off l : Under M s off l -> Under M s (fst (trim off l)) (snd (trim off l)).
Proof.
  intros H. assert (K : Under M s (fst (trim_left off l)) (snd (trim_left off l))).
  { revert off H. induction l as [|x l IH]; intros off H; [exact H|]. destruct x; try exact H. cbn [trim_left]. apply IH, under_cons, H. }
  unfold trim. destruct (trim_left off l) as [o r]. cbn [fst snd] in *. clear H.
  rewrite <- (rev_involutive r) in K. revert K. generalize (rev r). clear. intros l. induction l as [|x l IH]; intros K; [exact K|].
  destruct x; try exact K. cbn [no_zeros]. apply IH. cbn [rev] in K. now apply under_init in K.
Qed.

Section Law.
Variables (a b : Z).
Hypothesis a_range : (0 <= a <= b)%Z.
Hypothesis b_positive : (0 < b)%Z.
Let q := IZR a / IZR b.

Lemma q_right : 0 <= q <= 1.
Proof. apply (q_range a b b_positive); lia. Qed.
Lemma under_more s n off l : Under (patches q n) s off l -> Under (patches q (S n)) (2 * b * s) (off - 1) (more a (2 * (b - a)) a l).
Proof.
  intros H g P m. replace (m + (off - 1))%Z with (m + off - 1)%Z by ring. rewrite total_more. cbn [patches]. unfold patch.
  generalize (H g P (m + 0)%Z), (H g P (m + 1)%Z), (H g P (m + -1)%Z).
  replace (m + 0 + off)%Z with (m + off)%Z by ring. replace (m + 1 + off)%Z with (m + off + 1)%Z by ring.
  replace (m + -1 + off)%Z with (m + off - 1)%Z by ring.
  set (t0 := total _ _ _). set (t1 := total _ _ _). set (t2 := total _ _ _).
  set (p0 := patches _ _ _ _). set (p1 := patches _ _ _ _). set (p2 := patches _ _ _ _). intros H0 H1 H2.
  assert (B : 0 < IZR b) by now apply IZR_lt. assert (A : 0 <= IZR a) by (apply IZR_le; lia).
  assert (A' : 0 <= IZR (b - a)) by (apply IZR_le; lia). rewrite minus_IZR in A'.
  replace (IZR (2 * b * s) * ((1 - q) * p0 + q / 2 * p1 + q / 2 * p2)) with
    (2 * (IZR b - IZR a) * (IZR s * p0) + IZR a * (IZR s * p1) + IZR a * (IZR s * p2)) by (rewrite !mult_IZR; unfold q; field; lra).
  rewrite !mult_IZR, minus_IZR.
  apply (Rmult_le_compat_l (2 * (IZR b - IZR a))) in H0; [|lra]. apply (Rmult_le_compat_l (IZR a)) in H1, H2; [|exact A|exact A]. lra.
Qed.
(** From n to n + k patches. *)
Fixpoint add (k : nat) (l : list Z) : list Z := match k with O => l | S k => more a (2 * (b - a)) a (add k l) end.
Lemma under_add k s n off l : Under (patches q n) s off l -> Under (patches q (k + n)) ((2 * b) ^ Z.of_nat k * s) (off - Z.of_nat k) (add k l).
Proof.
  intros H. induction k as [|k IH].
  - cbn [add Nat.add]. change (Z.of_nat 0) with 0%Z. rewrite Z.pow_0_r, Z.mul_1_l, Z.sub_0_r. exact H.
  - cbn [add Nat.add]. rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia. rewrite <- Z.mul_assoc.
    replace (off - Z.succ (Z.of_nat k))%Z with (off - Z.of_nat k - 1)%Z by lia. now apply under_more.
Qed.
Definition next (k : nat) (off : Z) (l : list Z) : Z * list Z :=
  let c := ((2 * b) ^ Z.of_nat k)%Z in trim (off - Z.of_nat k) (map (fun x => x / c)%Z (add k l)).
Lemma under_next k n off l : Under (patches q n) scale off l -> Under (patches q (k + n)) scale (fst (next k off l)) (snd (next k off l)).
Proof. intros H. apply under_trim, under_divided; [apply Z.pow_pos_nonneg; lia | now apply under_add]. Qed.
Lemma under_start : Under (patches q 0) scale 0 [scale].
Proof. intros g G m. cbn [total patches]. rewrite Z.add_0_r. lra. Qed.

(** The weights of Delta. *)
Lemma under_turned s n off l g C : Under (patches q n) s off l -> (forall x, 0 <= g x) ->
  total (turned a b (turned a b l)) g (C + off - 2) <= IZR (2 * b) ^ 2 * IZR s *
    patch q (fun x => patch q (fun y => IZR (1 - x) * IZR (1 - y) * patches q n g (C + x + y))).
Proof.
  intros H G. unfold turned. rewrite !total_more'.
  generalize (H g G (C - 2 + 0)%Z), (H g G (C - 2 + 1)%Z), (H g G (C - 2 + 2)%Z).
  replace (C + off - 2)%Z with (C - 2 + 0 + off)%Z by ring.
  replace (C - 2 + 0 + off + 1)%Z with (C - 2 + 1 + off)%Z by ring. replace (C - 2 + 0 + off + 2)%Z with (C - 2 + 2 + off)%Z by ring.
  replace (C - 2 + 1 + off + 1)%Z with (C - 2 + 2 + off)%Z by ring.
  set (t0 := total _ _ _). set (t1 := total l g (C - 2 + 1 + off)). set (t2 := total l g (C - 2 + 2 + off)). unfold patch.
  change (1 - 0)%Z with 1%Z. change (1 - 1)%Z with 0%Z. change (1 - -1)%Z with 2%Z.
  replace (C + 0 + 0)%Z with (C - 2 + 2)%Z by ring. replace (C + 0 + -1)%Z with (C - 2 + 1)%Z by ring.
  replace (C + -1 + 0)%Z with (C - 2 + 1)%Z by ring. replace (C + -1 + -1)%Z with (C - 2 + 0)%Z by ring.
  set (p0 := patches q n g (C - 2 + 0)). set (p1 := patches q n g (C - 2 + 1)). set (p2 := patches q n g (C - 2 + 2)). intros H0 H1 H2.
  assert (B : 0 < IZR b) by now apply IZR_lt. assert (A : 0 <= IZR a) by (apply IZR_le; lia).
  assert (A' : 0 <= IZR (b - a)) by (apply IZR_le; lia). rewrite minus_IZR in A'.
  apply (Rmult_le_compat_l (4 * IZR a ^ 2)) in H0; [|nra]. apply (Rmult_le_compat_l (8 * IZR a * (IZR b - IZR a))) in H1; [|nra].
  apply (Rmult_le_compat_l (4 * (IZR b - IZR a) ^ 2)) in H2; [|nra].
  match goal with |- ?x <= ?y => replace y with (4 * IZR a ^ 2 * (IZR s * p0) + 8 * IZR a * (IZR b - IZR a) * (IZR s * p1) + 4 * (IZR b - IZR a) ^ 2 * (IZR s * p2))
    by (rewrite !mult_IZR; unfold q; field; lra) end.
  rewrite !mult_IZR, minus_IZR. lra.
Qed.
End Law.

(** * w from both sides *)

Definition down x y := Z.shiftr (x * y) 40.
Definition up x y := (Z.shiftr (x * y) 40 + 1)%Z.
Definition w_down v := let t := Z.shiftr v 20 in (t * fine / (fine + t))%Z.
Definition w_up v := let t := (Z.shiftr v 20 + 1)%Z in (t * fine / (fine + t) + 1)%Z.
Definition least x r := (0 <= x)%Z /\ IZR x <= IZR one * r.
Definition most x r := IZR one * r <= IZR x.

Lemma shift_down x k : (0 <= k)%Z -> IZR (Z.shiftr x k) * IZR (2 ^ k) <= IZR x.
Proof.
  intros K. rewrite Z.shiftr_div_pow2 by exact K. rewrite <- mult_IZR, Z.mul_comm. apply IZR_le, Z.mul_div_le, Z.pow_pos_nonneg; lia.
Qed.
Lemma shift_up x k : (0 <= k)%Z -> IZR x <= IZR (Z.shiftr x k + 1) * IZR (2 ^ k).
Proof.
  intros K. rewrite Z.shiftr_div_pow2 by exact K. rewrite <- mult_IZR. apply IZR_le.
  assert (P : (0 < 2 ^ k)%Z) by (apply Z.pow_pos_nonneg; lia). generalize (Z.mul_succ_div_gt x (2 ^ k) P). lia.
Qed.
Lemma down_right x y r s : 0 <= r -> 0 <= s -> least x r -> least y s -> least (down x y) (r * s).
Proof.
  intros R S [X X'] [Y Y']. split; [apply Z.shiftr_nonneg; nia|].
  generalize (shift_down (x * y) 40 ltac:(lia)). fold (down x y). change (2 ^ 40)%Z with one. rewrite mult_IZR. intros H.
  assert (O : 0 < IZR one) by (apply IZR_lt; reflexivity). apply IZR_le in X, Y.
  assert (IZR x * IZR y <= (IZR one * r) * (IZR one * s)) by now apply Rmult_le_compat.
  apply Rmult_le_reg_r with (IZR one); [exact O|]. nra.
Qed.
Lemma up_right x y r s : 0 <= r -> 0 <= s -> most x r -> most y s -> most (up x y) (r * s).
Proof.
  unfold most. intros R S X Y. generalize (shift_up (x * y) 40 ltac:(lia)). fold (up x y). change (2 ^ 40)%Z with one. rewrite mult_IZR. intros H.
  assert (O : 0 < IZR one) by (apply IZR_lt; reflexivity).
  assert ((IZR one * r) * (IZR one * s) <= IZR x * IZR y) by (apply Rmult_le_compat; try assumption; apply Rmult_le_pos; lra).
  apply Rmult_le_reg_r with (IZR one); [exact O|]. nra.
Qed.
Definition logit r := r / (1 + r).
Lemma div_right x y z : (0 < y)%Z -> IZR x / IZR y <= z -> IZR (x / y) <= z.
Proof.
  intros Y H. apply Rle_trans with (IZR x / IZR y); [|exact H]. apply IZR_lt in Y as Y'.
  apply Rmult_le_reg_r with (IZR y); [exact Y'|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  rewrite <- mult_IZR, Z.mul_comm. now apply IZR_le, Z.mul_div_le.
Qed.
Lemma div_right' x y z : (0 < y)%Z -> z <= IZR x / IZR y -> z <= IZR (x / y + 1).
Proof.
  intros Y H. apply Rle_trans with (IZR x / IZR y); [exact H|]. apply IZR_lt in Y as Y'.
  apply Rmult_le_reg_r with (IZR y); [exact Y'|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  rewrite <- mult_IZR. apply IZR_le. generalize (Z.mul_succ_div_gt x y Y). lia.
Qed.
Lemma fine_square : IZR one = IZR fine * IZR fine.
Proof. rewrite <- mult_IZR. reflexivity. Qed.
Lemma w_down_right v r : 0 <= r -> least v r -> IZR (w_down v) <= IZR fine * logit r.
Proof.
  intros R [V H]. unfold w_down. set (t := Z.shiftr v 20). assert (T : (0 <= t)%Z) by now apply Z.shiftr_nonneg.
  assert (F : 0 < IZR fine) by (apply IZR_lt; reflexivity).
  assert (K : IZR t <= IZR fine * r).
  { generalize (shift_down v 20 ltac:(lia)). fold t. change (2 ^ 20)%Z with fine. rewrite fine_square in H. intros K.
    apply Rmult_le_reg_r with (IZR fine); [exact F|]. lra. }
  assert (D : (0 < fine + t)%Z) by (unfold fine; lia). apply div_right; [exact D|].
  apply IZR_le in T. rewrite plus_IZR, mult_IZR. unfold logit.
  apply Rmult_le_reg_r with ((IZR fine + IZR t) * (1 + r)); [apply Rmult_lt_0_compat; lra|].
  replace (IZR t * IZR fine / (IZR fine + IZR t) * ((IZR fine + IZR t) * (1 + r))) with (IZR fine * IZR t * (1 + r)) by (field; lra).
  replace (IZR fine * (r / (1 + r)) * ((IZR fine + IZR t) * (1 + r))) with (IZR fine * r * (IZR fine + IZR t)) by (field; lra). nra.
Qed.
Lemma w_up_right v r : 0 <= r -> most v r -> IZR fine * logit r <= IZR (w_up v).
Proof.
  intros R H. unfold most in H. unfold w_up. set (t := (Z.shiftr v 20 + 1)%Z).
  assert (F : 0 < IZR fine) by (apply IZR_lt; reflexivity).
  assert (K : IZR fine * r <= IZR t).
  { generalize (shift_up v 20 ltac:(lia)). fold t. change (2 ^ 20)%Z with fine. rewrite fine_square in H. intros K.
    apply Rmult_le_reg_r with (IZR fine); [exact F|]. lra. }
  assert (T : 0 <= IZR t) by (apply Rle_trans with (IZR fine * r); [apply Rmult_le_pos; lra | exact K]).
  assert (D : (0 < fine + t)%Z) by (apply lt_IZR; rewrite plus_IZR; lra). apply div_right'; [exact D|].
  rewrite plus_IZR, mult_IZR. unfold logit.
  apply Rmult_le_reg_r with ((IZR fine + IZR t) * (1 + r)); [apply Rmult_lt_0_compat; lra|].
  replace (IZR t * IZR fine / (IZR fine + IZR t) * ((IZR fine + IZR t) * (1 + r))) with (IZR fine * IZR t * (1 + r)) by (field; lra).
  replace (IZR fine * (r / (1 + r)) * ((IZR fine + IZR t) * (1 + r))) with (IZR fine * r * (IZR fine + IZR t)) by (field; lra). nra.
Qed.

(** c^(k^3) for k = 1, 2, ... by three products each. *)
Fixpoint cubes (mul : Z -> Z -> Z) (weigh : Z -> Z) (e : Z) (K : nat) (v d s : Z) : list Z :=
  match K with O => [] | S K => let v := mul v d in weigh v :: cubes mul weigh e K v (mul d s) (mul s e) end.
Fixpoint All (ok : Z -> nat -> Prop) (k : nat) (l : list Z) : Prop :=
  match l with [] => True | x :: l => ok x k /\ All ok (S k) l end.
Section Cubes.
Variables (c : R) (mul : Z -> Z -> Z) (weigh : Z -> Z) (near : Z -> R -> Prop) (fits : Z -> R -> Prop).
Hypothesis c_positive : 0 < c.
Hypothesis mul_right : forall x y r s, 0 <= r -> 0 <= s -> near x r -> near y s -> near (mul x y) (r * s).
Hypothesis weigh_right : forall v r, 0 <= r -> near v r -> fits (weigh v) (logit r).
Lemma cubes_right e : near e (c ^ 6) -> forall K k v d s, near v (c ^ (k ^ 3)) -> near d (c ^ (3 * k ^ 2 + 3 * k + 1)) -> near s (c ^ (6 * k + 6)) ->
  All (fun x k => fits x (logit (c ^ (k ^ 3)))) (S k) (cubes mul weigh e K v d s).
Proof.
  intros E. assert (P : forall n, 0 <= c ^ n) by (intros; now apply Rlt_le, pow_lt).
  induction K as [|K IH]; intros k v d s V D S; cbn [cubes All]; [exact Logic.I|].
  assert (V' : near (mul v d) (c ^ (Datatypes.S k ^ 3))).
  { replace (Datatypes.S k ^ 3)%nat with (k ^ 3 + (3 * k ^ 2 + 3 * k + 1))%nat by (cbn [Nat.pow]; ring). rewrite pow_add. apply mul_right; auto. }
  split; [now apply weigh_right|]. apply IH; [exact V' | |].
  - replace (3 * Datatypes.S k ^ 2 + 3 * Datatypes.S k + 1)%nat with ((3 * k ^ 2 + 3 * k + 1) + (6 * k + 6))%nat by (cbn [Nat.pow]; ring). rewrite pow_add. apply mul_right; auto.
  - replace (6 * Datatypes.S k + 6)%nat with ((6 * k + 6) + 6)%nat by ring. rewrite pow_add. apply mul_right; auto.
Qed.
Definition sixth x := let x2 := mul x x in mul (mul x2 x2) x2.
Lemma sixth_right x : near x c -> near (sixth x) (c ^ 6).
Proof.
  intros H. unfold sixth. assert (H2 : near (mul x x) (c * c)) by (apply mul_right; auto using Rlt_le).
  replace (c ^ 6) with (c * c * (c * c) * (c * c)) by ring. repeat apply mul_right; auto; repeat apply Rmult_le_pos; now apply Rlt_le.
Qed.
Definition weights x K := let e := sixth x in cubes mul weigh e K one x e.
Lemma weights_right x K : near one 1 -> near x c -> All (fun x k => fits x (logit (c ^ (k ^ 3)))) 1 (weights x K).
Proof.
  intros O X. unfold weights. apply (cubes_right _ (sixth_right x X)).
  - exact O.
  - cbn [Nat.pow Nat.mul Nat.add]. now rewrite pow_1.
  - apply sixth_right, X.
Qed.
End Cubes.
Definition ratio Y := (Y * one / (Y + 64))%Z.
Lemma lowers Y K : (0 < Y)%Z -> let c := IZR Y / IZR (Y + 64) in
  All (fun x k => IZR x <= IZR fine * logit (c ^ (k ^ 3))) 1 (weights down w_down (ratio Y) K).
Proof.
  intros P c. assert (c_positive : 0 < c) by (apply Rdiv_lt_0_compat; apply IZR_lt; lia).
  apply (weights_right c down w_down least (fun x r => IZR x <= IZR fine * r)); [exact c_positive | exact down_right | exact w_down_right | |].
  - split; [easy | lra].
  - split; [apply Z.div_pos; unfold one; lia|]. apply div_right; [lia|]. rewrite mult_IZR. unfold c. right. field. apply not_0_IZR. lia.
Qed.
Lemma uppers Y K : (0 < Y)%Z -> let c := IZR Y / IZR (Y + 64) in
  All (fun x k => IZR fine * logit (c ^ (k ^ 3)) <= IZR x) 1 (weights up w_up (ratio Y + 1) K).
Proof.
  intros P c. assert (c_positive : 0 < c) by (apply Rdiv_lt_0_compat; apply IZR_lt; lia).
  apply (weights_right c up w_up most (fun x r => IZR fine * r <= IZR x)); [exact c_positive | exact up_right | exact w_up_right | |].
  - unfold most. lra.
  - unfold most. apply div_right'; [lia|]. rewrite mult_IZR. unfold c. right. field. apply not_0_IZR. lia.
Qed.

(** * The two sums *)

(** The values of m^e w at -K, ..., -1, 0, 1, ..., K, given w at 1, 2, ..., K; over [fine]. *)
Fixpoint both (e k : Z) (ws neg : list Z) : list Z * list Z :=
  match ws with
  | [] => (neg, [])
  | x :: ws => let p := (k ^ e)%Z in let (l, r) := both e (k + 1) ws (p * (x - fine) :: neg)%Z in (l, p * x :: r)%Z
  end.
Definition values e ws := let (l, r) := both e 1 ws [] in l ++ 0%Z :: r.

Fixpoint Fits (ok : Z -> Z -> Prop) (m : Z) (l : list Z) : Prop :=
  match l with [] => True | x :: l => ok x m /\ Fits ok (m + 1) l end.
Lemma fits_app ok m l r : Fits ok m l -> Fits ok (m + Z.of_nat (length l)) r -> Fits ok m (l ++ r).
Proof.
  revert m. induction l as [|x l IH]; intros m; cbn [length app Fits]; [now rewrite Z.add_0_r|].
  intros [H K] R. split; [exact H|]. apply IH; [exact K|]. rewrite Nat2Z.inj_succ in R. now replace (m + 1 + Z.of_nat (length l))%Z with (m + Z.succ (Z.of_nat (length l)))%Z by lia.
Qed.
Lemma both_right (ok : Z -> Z -> Prop) (given : Z -> nat -> Prop) e :
  (forall x k, (0 < k)%nat -> given x k -> ok (Z.of_nat k ^ e * x)%Z (Z.of_nat k)) ->
  (forall x k, (0 < k)%nat -> given x k -> ok (Z.of_nat k ^ e * (x - fine))%Z (- Z.of_nat k)%Z) ->
  forall ws k neg, (0 < k)%nat -> All given k ws -> Fits ok (1 - Z.of_nat k) neg -> length neg = (k - 1)%nat ->
  let (l, r) := both e (Z.of_nat k) ws neg in
  Fits ok (1 - Z.of_nat k - Z.of_nat (length ws)) l /\ Fits ok (Z.of_nat k) r /\ length l = (k - 1 + length ws)%nat.
Proof.
  intros P M. induction ws as [|x ws IH]; intros k neg K A N E; cbn [both].
  - cbn [length]. rewrite Z.sub_0_r, Nat.add_0_r. now repeat split.
  - destruct A as [A B]. specialize (IH (S k) (Z.of_nat k ^ e * (x - fine) :: neg)%Z ltac:(lia) B).
    replace (Z.of_nat (S k)) with (Z.of_nat k + 1)%Z in IH by lia.
    destruct (both e (Z.of_nat k + 1) ws _) as [l r]. cbn [length Fits] in *. rewrite Nat2Z.inj_succ.
    destruct IH as [L [R N']].
    + split; [|now replace (1 - (Z.of_nat k + 1) + 1)%Z with (1 - Z.of_nat k)%Z by ring].
      replace (1 - (Z.of_nat k + 1))%Z with (- Z.of_nat k)%Z by ring. now apply M.
    + rewrite E. lia.
    + split; [|split; [split; [now apply P | exact R] | lia]].
      replace (1 - Z.of_nat k - Z.succ (Z.of_nat (length ws)))%Z with (1 - (Z.of_nat k + 1) - Z.of_nat (length ws))%Z by ring. exact L.
Qed.
Lemma values_right (ok : Z -> Z -> Prop) (given : Z -> nat -> Prop) e ws :
  (forall x k, (0 < k)%nat -> given x k -> ok (Z.of_nat k ^ e * x)%Z (Z.of_nat k)) ->
  (forall x k, (0 < k)%nat -> given x k -> ok (Z.of_nat k ^ e * (x - fine))%Z (- Z.of_nat k)%Z) ->
  ok 0%Z 0%Z -> All given 1 ws -> Fits ok (- Z.of_nat (length ws)) (values e ws).
Proof.
  intros P M O A. unfold values. generalize (both_right ok given e P M ws 1 [] ltac:(lia) A Logic.I eq_refl).
  change (Z.of_nat 1) with 1%Z. destruct (both e 1 ws []) as [l r]. intros [L [R N]].
  replace (1 - 1 - Z.of_nat (length ws))%Z with (- Z.of_nat (length ws))%Z in L by ring. apply fits_app; [exact L|].
  rewrite N. replace (- Z.of_nat (length ws) + Z.of_nat (1 - 1 + length ws))%Z with 0%Z by lia. split; [exact O | exact R].
Qed.

(** Sum of x (s v + t) over both lists. *)
Fixpoint dot (s t : Z) (l vs : list Z) : Z :=
  match l, vs with x :: l, v :: vs => (x * (s * v + t) + dot s t l vs)%Z | _, _ => 0%Z end.
Definition nonneg l := forallb (fun x => 0 <=? x)%Z l.
Lemma dot_right s t g : forall l vs m, nonneg l = true -> (length l <= length vs)%nat ->
  Fits (fun v m => IZR (s * v + t) <= g m) m vs -> IZR (dot s t l vs) <= total l g m.
Proof.
  induction l as [|x l IH]; intros vs m N E F; [apply Rle_refl|]. destruct vs as [|v vs]; [cbn in E; lia|].
  cbn [dot total nonneg forallb length] in *. apply andb_prop in N. destruct N as [X N]. apply Z.leb_le in X. destruct F as [V F].
  rewrite plus_IZR, mult_IZR. apply Rplus_le_compat; [|apply IH; [exact N | lia | exact F]].
  apply Rmult_le_compat_l; [now apply IZR_le | exact V].
Qed.
Lemma fits_weaken (ok ok' : Z -> Z -> Prop) l m : (forall x k, (m <= k)%Z -> ok x k -> ok' x k) -> Fits ok m l -> Fits ok' m l.
Proof.
  revert m. induction l as [|x l IH]; intros m H; cbn [Fits]; [easy|]. intros [A B]. split; [apply H; [lia | exact A]|].
  apply IH; [|exact B]. intros y k K. apply H. lia.
Qed.
Lemma total_zeros j l g m : total (repeat 0%Z j ++ l) g m = total l g (m + Z.of_nat j).
Proof.
  revert m. induction j as [|j IH]; intros m; cbn [repeat app total]; [now rewrite Z.add_0_r|].
  rewrite IH, Nat2Z.inj_succ. replace (m + 1 + Z.of_nat j)%Z with (m + Z.succ (Z.of_nat j))%Z by lia. ring.
Qed.
Lemma total_scaled c l g m : total l (fun x => c * g x) m = c * total l g m.
Proof. revert m. induction l as [|x l IH]; intros m; cbn [total]; [ring|]. rewrite IH. ring. Qed.

(** What u = - log c gives. *)
Section Witness.
Variable c : R.
Hypothesis c_range : 0 < c < 1.
Let u := - ln c.
Lemma exp_power k : exp (u * IZR (- Z.of_nat k)) = c ^ k.
Proof.
  rewrite opp_IZR, <- INR_IZR_INZ. unfold u. replace (- ln c * - INR k) with (INR k * ln c) by ring.
  change (Rpower c (INR k) = c ^ k). apply Rpower_pow. lra.
Qed.
Lemma w_minus k : w 1 u (- Z.of_nat k) = 1 - logit (c ^ (k ^ 3)).
Proof.
  unfold w, logit. replace ((- Z.of_nat k) ^ (2 * 1 + 1))%Z with (- Z.of_nat (k ^ 3))%Z.
  - rewrite exp_power. assert (0 < c ^ (k ^ 3)) by (apply pow_lt; lra). field. lra.
  - rewrite Nat2Z.inj_pow. change (2 * 1 + 1)%Z with 3%Z. change (Z.of_nat 3) with 3%Z. ring.
Qed.
Lemma w_plus k : w 1 u (Z.of_nat k) = logit (c ^ (k ^ 3)).
Proof.
  unfold w, logit. replace (Z.of_nat k ^ (2 * 1 + 1))%Z with (Z.of_nat (k ^ 3)) by (rewrite Nat2Z.inj_pow; reflexivity).
  generalize (exp_power (k ^ 3)). rewrite opp_IZR, Ropp_mult_distr_r_reverse, exp_Ropp. set (x := exp _). intros E.
  assert (P : 0 < x) by apply exp_pos. rewrite <- E. field. lra.
Qed.
Lemma u_above : 1 - c <= u.
Proof. generalize (exp_ineq1_le (ln c)). rewrite exp_ln by lra. unfold u. lra. Qed.
(** m^3 w is nowhere more than 1 / (1 - c), and m w nowhere less than m below zero. *)
Lemma f_top m : w 1 u m * IZR (m ^ (2 * 1 + 1)) <= / (1 - c).
Proof.
  unfold w. set (x := IZR (m ^ (2 * 1 + 1))). assert (P := exp_pos (u * x)). assert (U := u_above).
  assert (I : 0 < / (1 - c)) by (apply Rinv_0_lt_compat; lra). assert (J : 0 < / (1 + exp (u * x))) by (apply Rinv_0_lt_compat; lra).
  destruct (Rle_lt_dec x 0) as [N | X]; [generalize (Rmult_le_compat_l _ _ _ (Rlt_le _ _ J) N); lra|].
  assert (E := exp_ineq1_le (u * x)). apply Rmult_le_reg_r with (1 + exp (u * x)); [lra|].
  rewrite (Rmult_comm (/ _)), Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  apply Rmult_le_reg_l with (1 - c); [lra|]. rewrite <- Rmult_assoc, Rinv_r by lra. nra.
Qed.
Lemma Delta_bottom m B : (0 <= B)%Z -> (- B <= m)%Z -> 0 <= w 1 u m * IZR (m ^ (2 * 1 - 1)) + IZR B.
Proof.
  intros P H. unfold w. change (2 * 1 - 1)%Z with 1%Z. rewrite Z.pow_1_r. set (x := exp _). assert (X : 0 < x) by apply exp_pos.
  assert (J : 0 < / (1 + x) <= 1).
  { split; [apply Rinv_0_lt_compat; lra|]. rewrite <- Rinv_1 at 2. apply Rinv_le_contravar; lra. }
  apply IZR_le in H, P. rewrite opp_IZR in H. nra.
Qed.
End Witness.

(** * The checker *)

Section Check.
Variables (a b : Z).
Hypothesis a_range : (0 <= a <= b)%Z.
Hypothesis b_positive : (0 < b)%Z.
Variables (C : nat).
Let q := IZR a / IZR b.

(** l holds the law of n - 2 patches from off on; Y is the witness. *)
Definition decides (n : nat) (off : Z) (l : list Z) (Y : Z) : bool :=
  let K := Z.to_nat (2 + Z.of_nat C - off) in
  let zeros := repeat 0%Z (2 * C) in
  let plain := zeros ++ add a b 2 l in
  let weighed := zeros ++ turned a b (turned a b l) in
  let top := values 3 (weights up w_up (ratio Y + 1) K) in
  let bottom := values 1 (weights down w_down (ratio Y) K) in
  let unit := (fine * ((2 * b) ^ 2 * scale))%Z in
  let B := (Z.of_nat n + Z.of_nat C + 2)%Z in
  (0 <? Y)%Z && (Z.of_nat K =? 2 + Z.of_nat C - off)%Z && (Z.of_nat K <=? B)%Z && nonneg plain && nonneg weighed &&
  (length plain <=? length top)%nat && (length weighed <=? length bottom)%nat &&
  (unit * (Y + 64) <? dot (-1) (fine * (Y + 64)) plain top)%Z &&
  (unit * B <? dot 1 (fine * B) weighed bottom)%Z.

Lemma patches_low n g h m : (forall x, (m - Z.of_nat n <= x)%Z -> g x = h x) -> patches q n g m = patches q n h m.
Proof.
  revert m. induction n as [|n IH]; intros m H; cbn [patches]; [apply H; lia|]. unfold patch.
  rewrite !IH; [reflexivity | | |]; intros x X; apply H; lia.
Qed.
Lemma patches_const n c m : patches q n (fun _ => c) m = c.
Proof. revert m. induction n as [|n IH]; intros m; cbn [patches]; [reflexivity|]. unfold patch. rewrite !IH. field. Qed.
Lemma patches_affine n s t g m : patches q n (fun x => s * g x + t) m = s * patches q n g m + t.
Proof.
  rewrite (patches_plus q n (fun x => s * g x) (fun _ => t)), patches_const. f_equal.
  revert m. induction n as [|n IH]; intros m; cbn [patches]; [reflexivity|]. unfold patch. rewrite !IH. ring.
Qed.

Lemma decides_right n off l Y : (2 <= n)%nat -> Under (patches q (n - 2)) scale off l -> decides n off l Y = true -> Companions_win 1 q n (Z.of_nat C).
Proof.
  intros N H D. unfold decides in D. cbv zeta in D. rewrite !andb_true_iff, !Z.ltb_lt, !Z.leb_le, !Nat.leb_le, Z.eqb_eq in D.
  destruct D as [[[[[[[[PY EK] KB] N1] N2] L1] L2] S1] S2].
  set (K := Z.to_nat (2 + Z.of_nat C - off)) in *. set (B := (Z.of_nat n + Z.of_nat C + 2)%Z) in *.
  set (c := IZR Y / IZR (Y + 64)). assert (Y1 : 0 < IZR Y) by now apply IZR_lt.
  assert (Y2 : IZR (Y + 64) = IZR Y + 64) by apply plus_IZR.
  assert (c_range : 0 < c < 1).
  { unfold c. rewrite Y2. split; [apply Rdiv_lt_0_compat; lra|]. apply Rmult_lt_reg_r with (IZR Y + 64); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  set (u := - ln c). assert (Q := q_right a b a_range b_positive). fold q in Q.
  assert (F : 0 < IZR fine) by (apply IZR_lt; reflexivity). assert (S : 0 < IZR scale) by (apply IZR_lt; reflexivity).
  assert (BB : 0 < IZR (2 * b) ^ 2) by (apply pow_lt, IZR_lt; lia).
  assert (lenK : forall mul weigh x, length (weights mul weigh x K) = K).
  { clear. intros mul weigh x. unfold weights. generalize (sixth mul x) at 1. generalize one, x, (sixth mul x). clear x.
    induction K as [|k IH]; intros; cbn [cubes length]; [reflexivity|]. now rewrite IH. }
  apply win_by_one_sign with u; [lia | exact Q | |].
  - (* f < 0 *)
    set (g := fun m => w 1 u m * IZR (m ^ (2 * 1 + 1))). set (G := IZR (Y + 64)).
    assert (top : forall m, g m <= G).
    { intros m. refine (Rle_trans _ _ _ (f_top c c_range m) _). unfold c, G. rewrite Y2.
      replace (1 - IZR Y / (IZR Y + 64)) with (64 / (IZR Y + 64)) by (field; lra).
      replace (/ (64 / (IZR Y + 64))) with ((IZR Y + 64) / 64) by (field; lra). lra. }
    set (h := fun m => -1 * g m + G). assert (h_nonneg : forall m, 0 <= h m) by (intros m; unfold h; generalize (top m); lra).
    assert (E : IZR (dot (-1) (fine * (Y + 64)) (repeat 0%Z (2 * C) ++ add a b 2 l) (values 3 (weights up w_up (ratio Y + 1) K)))
       <= total (repeat 0%Z (2 * C) ++ add a b 2 l) (fun m => IZR fine * h m) (- Z.of_nat K)).
    { apply dot_right; [exact N1 | exact L1 |].
      apply (fits_weaken (fun v m => IZR fine * g m <= IZR v)).
      - intros v m _ V. unfold h, G. rewrite plus_IZR, !mult_IZR. lra.
      - replace (- Z.of_nat K)%Z with (- Z.of_nat (length (weights up w_up (ratio Y + 1) K)))%Z by (now rewrite lenK).
        refine (values_right _ _ 3 _ _ _ _ (uppers Y K PY)).
        + intros x k P V. unfold g, u. rewrite w_plus by exact c_range. change (2 * 1 + 1)%Z with 3%Z. rewrite mult_IZR, (Rmult_comm (IZR (_ ^ _))), <- Rmult_assoc.
          apply Rmult_le_compat_r; [apply IZR_le, Z.pow_nonneg; lia | exact V].
        + intros x k P V. unfold g, u. rewrite w_minus by exact c_range. change (2 * 1 + 1)%Z with 3%Z.
          replace ((- Z.of_nat k) ^ 3)%Z with (- Z.of_nat k ^ 3)%Z by ring. rewrite opp_IZR, mult_IZR, minus_IZR.
          assert (0 <= IZR (Z.of_nat k ^ 3)) by (apply IZR_le, Z.pow_nonneg; lia). fold c in V. nra.
        + unfold g. rewrite Z.pow_0_l by lia. lra. }
    rewrite total_scaled, total_zeros in E.
    assert (U := under_add a b a_range b_positive 2 _ _ _ _ H). change (Z.of_nat 2) with 2%Z in U.
    replace (2 + (n - 2))%nat with n in U by lia. specialize (U h h_nonneg (Z.of_nat C)).
    replace (- Z.of_nat K + Z.of_nat (2 * C))%Z with (Z.of_nat C + (off - 2))%Z in E by lia.
    unfold h in U at 2. rewrite patches_affine in U. fold (f 1 q n (Z.of_nat C) u) in U.
    apply IZR_lt in S1. rewrite !mult_IZR in S1. rewrite !mult_IZR in U. fold G in S1.
    change ((2 * b) ^ 2)%Z with ((2 * b) ^ Z.of_nat 2)%Z in S1, U. rewrite <- pow_IZR in S1, U.
    set (W := IZR (2 * b) ^ 2) in *. set (T := total _ h _) in *. change (patches q n g (Z.of_nat C)) with (f 1 q n (Z.of_nat C) u) in U.
    set (x := f 1 q n (Z.of_nat C) u) in *.
    assert (WS : 0 < W * IZR scale) by now apply Rmult_lt_0_compat.
    assert (IZR fine * (W * IZR scale * G) < IZR fine * T) by lra. apply Rmult_lt_reg_l in H0; [|exact F].
    assert (W * IZR scale * G < W * IZR scale * (-1 * x + G)) by lra. apply Rmult_lt_reg_l in H1; [lra | exact WS].
  - (* Delta > 0 *)
    set (g := fun m => w 1 u m * IZR (m ^ (2 * 1 - 1))).
    set (h := fun m => if (- B <=? m)%Z then g m + IZR B else 0).
    assert (PB : (0 <= B)%Z) by (unfold B; lia).
    assert (h_nonneg : forall m, 0 <= h m).
    { intros m. unfold h. destruct (Z.leb_spec (- B) m) as [L | L]; [|lra]. now apply Delta_bottom. }
    assert (E : IZR (dot 1 (fine * B) (repeat 0%Z (2 * C) ++ turned a b (turned a b l)) (values 1 (weights down w_down (ratio Y) K)))
       <= total (repeat 0%Z (2 * C) ++ turned a b (turned a b l)) (fun m => IZR fine * h m) (- Z.of_nat K)).
    { apply dot_right; [exact N2 | exact L2 |].
      apply (fits_weaken (fun v m => IZR v <= IZR fine * g m)).
      - intros v m M V. unfold h. destruct (Z.leb_spec (- B) m) as [L | L]; [|lia]. rewrite plus_IZR, !mult_IZR. lra.
      - replace (- Z.of_nat K)%Z with (- Z.of_nat (length (weights down w_down (ratio Y) K)))%Z by (now rewrite lenK).
        refine (values_right _ _ 1 _ _ _ _ (lowers Y K PY)).
        + intros x k P V. unfold g, u. rewrite w_plus by exact c_range. change (2 * 1 - 1)%Z with 1%Z. rewrite mult_IZR, (Rmult_comm (IZR (_ ^ _))), <- Rmult_assoc.
          apply Rmult_le_compat_r; [apply IZR_le, Z.pow_nonneg; lia | exact V].
        + intros x k P V. unfold g, u. rewrite w_minus by exact c_range. change (2 * 1 - 1)%Z with 1%Z.
          rewrite !Z.pow_1_r, opp_IZR, mult_IZR, minus_IZR.
          assert (0 <= IZR (Z.of_nat k)) by (apply IZR_le; lia). fold c in V. nra.
        + unfold g. cbn. lra. }
    rewrite total_scaled, total_zeros in E.
    assert (U := under_turned a b a_range b_positive _ _ _ _ h (Z.of_nat C) H h_nonneg).
    replace (- Z.of_nat K + Z.of_nat (2 * C))%Z with (Z.of_nat C + off - 2)%Z in E by lia.
    assert (same : patch q (fun x => patch q (fun y => IZR (1 - x) * IZR (1 - y) * patches q (n - 2) h (Z.of_nat C + x + y))) =
      Delta 1 q n (Z.of_nat C) u + IZR B).
    { unfold Delta. fold g. rewrite <- (Rmult_1_l (IZR B)).
      assert (X : forall m, (- 2 <= m)%Z -> patches q (n - 2) h (Z.of_nat C + m) = 1 * patches q (n - 2) g (Z.of_nat C + m) + IZR B).
      { intros m M. rewrite <- patches_affine. apply patches_low. intros x L. unfold h. destruct (Z.leb_spec (- B) x) as [_ | J]; [ring|]. unfold B in J. lia. }
      unfold patch. rewrite <- !Z.add_assoc, !X by lia. change (1 - 0)%Z with 1%Z. change (1 - 1)%Z with 0%Z. change (1 - -1)%Z with 2%Z. field. }
    fold q in U. rewrite same in U.
    apply IZR_lt in S2. rewrite !mult_IZR in S2.
    change ((2 * b) ^ 2)%Z with ((2 * b) ^ Z.of_nat 2)%Z in S2. rewrite <- pow_IZR in S2.
    set (W := IZR (2 * b) ^ 2) in *. set (T := total _ h _) in *. set (x := Delta 1 q n (Z.of_nat C) u) in *.
    assert (WS : 0 < W * IZR scale) by now apply Rmult_lt_0_compat.
    assert (IZR fine * (W * IZR scale * IZR B) < IZR fine * T) by lra. apply Rmult_lt_reg_l in H0; [|exact F].
    assert (W * IZR scale * IZR B < W * IZR scale * (x + IZR B)) by lra. apply Rmult_lt_reg_l in H1; [lra | exact WS].
Qed.

(** One witness a size, from n patches on in steps of C. *)
Fixpoint run (n : nat) (off : Z) (l : list Z) (Ys : list Z) : bool :=
  match Ys with
  | [] => true
  | Y :: Ys => if decides n off l Y then let (off', l') := next a b C off l in run (n + C) off' l' Ys else false
  end.
Lemma run_right Ys : forall n off l, (2 <= n)%nat -> Under (patches q (n - 2)) scale off l -> run n off l Ys = true ->
  forall i, (i < length Ys)%nat -> Companions_win 1 q (n + i * C) (Z.of_nat C).
Proof.
  induction Ys as [|Y Ys IH]; intros n off l N H R i I; [cbn in I; lia|]. cbn [run] in R.
  destruct (decides n off l Y) eqn:D; [|discriminate]. destruct i as [|i].
  - rewrite Nat.mul_0_l, Nat.add_0_r. exact (decides_right n off l Y N H D).
  - assert (H' := under_next a b a_range b_positive C _ _ _ H). destruct (next a b C off l) as [off' l']. cbn [fst snd] in H'.
    replace (n + S i * C)%nat with (n + C + i * C)%nat by (cbn [Nat.mul]; lia). apply (IH (n + C)%nat off' l'); [lia | | exact R | cbn [length] in I; lia].
    now replace (n + C - 2)%nat with (C + (n - 2))%nat by lia.
Qed.
Definition run_from (n : nat) (Ys : list Z) : bool :=
  let (off, l) := next a b (n - 2) 0 [scale] in run n off l Ys.
Lemma run_from_right n Ys : (2 <= n)%nat -> run_from n Ys = true -> forall i, (i < length Ys)%nat -> Companions_win 1 q (n + i * C) (Z.of_nat C).
Proof.
  intros N R. unfold run_from in R. assert (H := under_next a b a_range b_positive (n - 2) _ _ _ (under_start a b)).
  destruct (next a b (n - 2) 0 [scale]) as [off l]. cbn [fst snd] in H. rewrite Nat.add_0_r in H. exact (run_right Ys n off l N H R).
Qed.
End Check.
