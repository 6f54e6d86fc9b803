(** Block attention is optimal: the two inequalities between six expectations.
    The claim is [Two_inequalities]. *)
From Coq Require Import Reals ZArith List Lra Lia.
From Interval Require Import Xreal Interval.
From Book Require Import Ball Vote.
Import ListNotations.
Open Scope R_scope.

(** * The claim *)
Section Claim.
Variables (q : R) (C L : nat).

(** The mean of g over the signs of a random set of C patches. *)
Fixpoint words (n : nat) (g : list Z -> R) : R :=
  match n with O => g [] | S n => patch q (fun s => words n (fun l => g (s :: l))) end.
Definition sum (l : list Z) : Z := fold_right Z.add 0%Z l.

(** The mean of pi_1 ... pi_k g (m + n_1^3 + ... + n_k^3) over k random sets, n the sum of the signs of a
    set and pi a product of signs of it. *)
Fixpoint mean (pis : list (list Z -> Z)) (g : Z -> R) (m : Z) : R :=
  match pis with
  | [] => g m
  | pi :: pis => words C (fun l => IZR (pi l) * mean pis g (m + sum l ^ 3))
  end.

Definition i (l : list Z) := nth 0 l 0%Z.
Definition ii l := (i l * i l)%Z.
Definition ij l := (i l * nth 1 l 0)%Z.
Definition iij l := (i l * i l * nth 1 l 0)%Z.
Definition ijk l := (i l * nth 1 l 0 * nth 2 l 0)%Z.
Definition free (k : nat) := repeat (fun _ : list Z => 1%Z) k.
Definition N := INR L.

(** With the signal set, whose signs are all 1, among the L sets: w = 1 / (1 + exp (v P)), P = sum n^3. *)
Definition signal := (Z.of_nat C ^ 3)%Z.
Definition slope (v : R) (m : Z) := / (1 + exp (v * IZR m)).
Definition pull v := mean (free (L - 1)) (fun m => IZR m * slope v m) signal.    (* E[w P] *)
Section At.
Variable v : R.
Let E pis := mean pis (slope v) signal.
Definition t1 := (E (free (L - 1)) + (N - 1) * E (i :: free (L - 2))) / N.
Definition t2 := (E (free (L - 1)) + (N - 1) * E (iij :: free (L - 2))) / N.
Definition t3 := (E (free (L - 1)) + (N - 1) * E (ijk :: free (L - 2))) / N.
Definition t4 := (E (i :: free (L - 2)) + E (ii :: free (L - 2)) + (N - 2) * E (ii :: i :: free (L - 3))) / N.
Definition t5 := (E (i :: free (L - 2)) + E (ij :: free (L - 2)) + (N - 2) * E (ij :: i :: free (L - 3))) / N.
Definition td := (3 * E (i :: i :: free (L - 3)) + (N - 3) * E (i :: i :: i :: free (L - 4))) / N.
End At.

Definition c := INR C.
Definition u t4 t5 := (t4 + (c - 1) * t5) / c.
Definition second t1 t2 t3 := (1 - 1 / c) * (3 * (t3 - t2) - 2 / c * (t1 - 3 * t2 + 2 * t3)).
Definition Two_inequalities := (exists v, pull v = 0) /\ forall v, pull v = 0 ->
  let b := if (C =? 2)%nat then - t1 v else Rmin (- t1 v) (second (t1 v) (t2 v) (t3 v)) in
  let a := 3 * Rmax (t4 v - u (t4 v) (t5 v)) 0 in
  let psi := if Rle_dec (N ^ 2 * b) ((N - 1) ^ 2 * (a + b)) then a - b / (N - 1)
             else N * (sqrt (a + b) - sqrt b) ^ 2 in
  0 < b /\ (N - 2) * Rmax (td v) 0 + psi < - 3 * u (t4 v) (t5 v).
End Claim.

(** * Laws as sorted lists of (value, weight) *)
Definition law := list (Z * Z).
Fixpoint over (l : law) (g : Z -> R) : R :=
  match l with [] => 0 | (k, w) :: l => IZR w * g k + over l g end.
Fixpoint put (k w : Z) (l : law) : law :=
  match l with
  | [] => [(k, w)]
  | (k', w') :: r => if (k =? k')%Z then (k, w + w')%Z :: r
                     else if (k <? k')%Z then (k, w) :: l else (k', w') :: put k w r
  end.
Lemma over_put k w l g : over (put k w l) g = IZR w * g k + over l g.
Proof.
  induction l as [|[k' w'] r IH]; cbn [put over]; [reflexivity|].
  destruct (Z.eqb_spec k k') as [<- |]; [cbn [over]; rewrite plus_IZR; ring|].
  destruct (k <? k')%Z; cbn [over]; [reflexivity|]. rewrite IH. ring.
Qed.
Fixpoint shifted (k w : Z) (r s : law) : law :=
  match r with [] => s | (k', w') :: r => put (k + k') (w * w') (shifted k w r s) end.
Fixpoint conv (l r : law) : law :=
  match l with [] => [] | (k, w) :: l => shifted k w r (conv l r) end.
Lemma over_shifted k w r s g : over (shifted k w r s) g = IZR w * over r (fun y => g (k + y)%Z) + over s g.
Proof.
  induction r as [|[k' w'] r IH]; cbn [shifted over]; [ring|]. rewrite over_put, IH, mult_IZR. ring.
Qed.
Lemma over_conv l r g : over (conv l r) g = over l (fun x => over r (fun y => g (x + y)%Z)).
Proof.
  induction l as [|[k w] l IH]; cbn [conv over]; [reflexivity|]. rewrite over_shifted, IH. reflexivity.
Qed.
Lemma over_ext l g h : (forall x, g x = h x) -> over l g = over l h.
Proof. intros H. induction l as [|[k w] l IH]; cbn [over]; [reflexivity|]. now rewrite H, IH. Qed.

Section Compute.
Variables (a b : Z) (C L : nat).
Hypothesis b_positive : (0 < b)%Z.
Let q := IZR a / IZR b.

Fixpoint all (n : nat) : list (list Z * Z) :=
  match n with
  | O => [([], 1%Z)]
  | S n => let rest := all n in
    map (fun x => (0%Z :: fst x, 2 * (b - a) * snd x)%Z) rest ++
    map (fun x => (1%Z :: fst x, a * snd x)%Z) rest ++ map (fun x => ((-1)%Z :: fst x, a * snd x)%Z) rest
  end.
Fixpoint weigh (h : list Z -> R) (l : list (list Z * Z)) : R :=
  match l with [] => 0 | x :: l => IZR (snd x) * h (fst x) + weigh h l end.
Lemma weigh_app h l r : weigh h (l ++ r) = weigh h l + weigh h r.
Proof. induction l as [|x l IH]; cbn [weigh app]; [ring|]. rewrite IH. ring. Qed.
Lemma weigh_map h s k l :
  weigh h (map (fun x => (s :: fst x, k * snd x)%Z) l) = IZR k * weigh (fun w => h (s :: w)) l.
Proof.
  induction l as [|x l IH]; cbn [weigh map fst snd]; [ring|]. rewrite IH, mult_IZR. ring.
Qed.
Lemma b_nz : IZR b <> 0. Proof. apply not_0_IZR. lia. Qed.
Lemma all_right n h : IZR (2 * b) ^ n * words q n h = weigh h (all n).
Proof.
  revert h. induction n as [|n IH]; intros h; [cbn; ring|].
  cbn [words all pow]. cbv zeta. rewrite !weigh_app, !weigh_map, <- !IH. unfold patch.
  rewrite !mult_IZR, minus_IZR. unfold q. field. exact b_nz.
Qed.

Definition set_law (pi : list Z -> Z) : law :=
  fold_right (fun x s => put (sum (fst x) ^ 3) (snd x * pi (fst x)) s) [] (all C).
Fixpoint law_of (pis : list (list Z -> Z)) : law :=
  match pis with [] => [(0, 1)]%Z | pi :: pis => conv (set_law pi) (law_of pis) end.

Definition scale (k : nat) : Z := ((2 * b) ^ Z.of_nat (C * k))%Z.
Lemma scale_right k : IZR (scale k) = IZR (2 * b) ^ (C * k).
Proof. unfold scale. now rewrite pow_IZR, Nat2Z.id || rewrite <- pow_IZR. Qed.
Lemma law_of_right pis g m :
  IZR (2 * b) ^ (C * length pis) * mean q C pis g m = over (law_of pis) (fun x => g (m + x)%Z).
Proof.
  revert m. induction pis as [|pi pis IH]; intros m.
  - cbn [length]. rewrite Nat.mul_0_r. cbn. replace (m + 0)%Z with m by ring. ring.
  - cbn [length mean law_of]. rewrite Nat.mul_succ_r, pow_add, over_conv.
    transitivity (IZR (2 * b) ^ C * words q C (fun l => IZR (pi l) *
      (IZR (2 * b) ^ (C * length pis) * mean q C pis g (m + sum l ^ 3)))).
    { set (K := IZR (2 * b) ^ (C * length pis)). set (S := IZR (2 * b) ^ C).
      assert (X : forall n h, words q n h * K = words q n (fun l => h l * K)).
      { induction n as [|n IHn]; intros h; [reflexivity|]. cbn [words]. unfold patch. rewrite <- !IHn. ring. }
      transitivity (S * (words q C (fun l => IZR (pi l) * mean q C pis g (m + sum l ^ 3)) * K)); [ring|].
      rewrite X. do 2 f_equal. apply FunctionalExtensionality.functional_extensionality. intros l. ring. }
    rewrite all_right. unfold set_law. induction (all C) as [|x r IHr]; [reflexivity|].
    cbn [weigh fold_right]. rewrite over_put, IHr, IH, mult_IZR. rewrite Rmult_assoc. f_equal. f_equal. f_equal.
    apply over_ext. intros y. f_equal. ring.
Qed.

(** * In ball arithmetic *)
Variable prec : F.precision.
Notation add := (I.add prec). Notation sub := (I.sub prec). Notation mul := (I.mul prec). Notation div := (I.div prec).
Notation Zb := (ofZ prec).

(** The slopes at every sum of cubes of the L - 1 random sets, once. *)
Definition table (V : I.type) : list (Z * I.type) :=
  map (fun x => let m := (signal C + fst x)%Z in (fst x, logistic prec (mul V (Zb m)))) (law_of (free (L - 1))).
Fixpoint look (t : list (Z * I.type)) (k : Z) : I.type :=
  match t with [] => I.nai | (k', w) :: r => if (k =? k')%Z then w else look r k end.
Fixpoint dot (l : law) (t : list (Z * I.type)) : I.type :=
  match l with
  | [] => Zb 0
  | (k, w) :: r => if (w =? 0)%Z then dot r t else add (mul (Zb w) (look t k)) (dot r t)
  end.
Lemma nai x : x \in I.nai. Proof. unfold holds. rewrite I.nai_correct. exact Logic.I. Qed.
Lemma look_right v V k : v \in V -> slope v (signal C + k) \in look (table V) k.
Proof.
  intros H. unfold table. induction (law_of _) as [|[k' w'] r IH]; cbn [map look fst]; [apply nai|].
  destruct (Z.eqb_spec k k') as [-> |]; [|exact IH]. apply in_logistic, in_mul; [exact H | apply in_Z].
Qed.
Lemma dot_right v V l : v \in V -> over l (fun k => slope v (signal C + k)) \in dot l (table V).
Proof.
  intros H. induction l as [|[k w'] r IH]; cbn [dot]; [apply in_Z|].
  destruct (Z.eqb_spec w' 0) as [-> |].
  - cbn [over]. rewrite Rmult_0_l, Rplus_0_l. exact IH.
  - apply in_add; [apply in_mul; [apply in_Z | now apply look_right] | exact IH].
Qed.
Definition mean_ball pis t : I.type := div (dot (law_of pis) t) (Zb (scale (length pis))).
Lemma scale_nz k : IZR (scale k) <> 0.
Proof. rewrite scale_right. apply pow_nonzero. rewrite mult_IZR. generalize b_nz. lra. Qed.
Lemma mean_right pis v V : v \in V -> mean q C pis (slope v) (signal C) \in mean_ball pis (table V).
Proof.
  intros H. unfold mean_ball.
  replace (mean q C pis (slope v) (signal C)) with
    (over (law_of pis) (fun k => slope v (signal C + k)) / IZR (scale (length pis))).
  - apply in_div; [apply scale_nz | now apply dot_right | apply in_Z].
  - rewrite <- law_of_right, scale_right. field. rewrite <- scale_right. apply scale_nz.
Qed.

(** v* lies between two numbers at which the pull has its two signs. *)
Lemma words_le n g h : 0 <= q <= 1 -> (forall l, g l <= h l) -> words q n g <= words q n h.
Proof.
  intros Q. revert g h. induction n as [|n IH]; intros g h H; cbn [words]; [apply H|].
  apply patch_le; [exact Q|]. intros s _. apply IH. intros l. apply H.
Qed.
Lemma free_le k g h m : 0 <= q <= 1 -> (forall m, g m <= h m) -> mean q C (free k) g m <= mean q C (free k) h m.
Proof.
  intros Q H. revert m. induction k as [|k IH]; intros m; cbn [free repeat mean]; [apply H|].
  apply words_le; [exact Q|]. intros l. generalize (IH (m + sum l ^ 3)%Z). unfold free. lra.
Qed.
Lemma pull_falls v v' : 0 <= q <= 1 -> v <= v' -> pull q C L v' <= pull q C L v.
Proof.
  intros Q H. apply free_le; [exact Q|]. intros m. unfold slope. apply falls; [exact H|]. nra.
Qed.
Lemma pull_continuous : continuity (pull q C L).
Proof.
  unfold pull. assert (X : forall pis m, continuity (fun v => mean q C pis (fun m => IZR m * slope v m) m)).
  { induction pis as [|pi pis IH]; intros m; cbn [mean].
    - unfold slope. intros v. reg. generalize (exp_pos (v * IZR m)). lra.
    - assert (Y : forall n (G : list Z -> R -> R), (forall l, continuity (G l)) ->
        continuity (fun v => words q n (fun l => G l v))).
      { induction n as [|n IHn]; intros G HG; cbn [words]; [apply HG|]. unfold patch.
        repeat apply continuity_plus; apply continuity_scal; apply IHn; intros l; apply HG. }
      apply (Y C (fun l v => IZR (pi l) * mean q C pis (fun m => IZR m * slope v m) (m + sum l ^ 3))).
      intros l. apply continuity_scal, IH. }
  apply X.
Qed.
Definition pull_ball (x y : Z) : I.type :=
  dot (map (fun e => (fst e, snd e * (signal C + fst e))%Z) (law_of (free (L - 1)))) (table (ofQ prec x y)).
Lemma over_map l g : over (map (fun e => (fst e, snd e * (signal C + fst e))%Z) l) g
  = over l (fun k => IZR (signal C + k) * g k).
Proof.
  induction l as [|[k w'] l IH]; cbn [map over fst snd]; [reflexivity|]. rewrite IH, mult_IZR. ring.
Qed.
Lemma pull_right x y : (y <> 0)%Z ->
  IZR (2 * b) ^ (C * length (free (L - 1))) * pull q C L (IZR x / IZR y) \in pull_ball x y.
Proof.
  intros Y. unfold pull. rewrite law_of_right.
  rewrite <- (over_map _ (fun k => slope (IZR x / IZR y) (signal C + k))). now apply dot_right, in_Q.
Qed.
Definition between (x x' y : Z) : I.type := I.join (ofQ prec x y) (ofQ prec x' y).
Lemma in_between x x' y v : (y <> 0)%Z -> IZR x / IZR y <= v <= IZR x' / IZR y -> v \in between x x' y.
Proof.
  intros Y H. unfold holds. apply (contains_connected _ (IZR x / IZR y) (IZR x' / IZR y)); [| |exact H];
    apply I.join_correct; [left | right]; now apply in_Q.
Qed.

(** The conditions, as balls. *)
Definition half X := div X (Zb 2).
Definition plus_part X := half (add X (I.abs X)).
Lemma in_abs x X : x \in X -> Rabs x \in I.abs X.
Proof. exact (I.abs_correct X (Xreal x)). Qed.
Lemma in_plus x X : x \in X -> Rmax x 0 \in plus_part X.
Proof.
  intros H. replace (Rmax x 0) with ((x + Rabs x) / IZR 2).
  - apply in_div; [apply not_0_IZR; lia | | apply in_Z]. apply in_add; [exact H | now apply in_abs].
  - unfold Rmax, Rabs. destruct (Rle_dec x 0), (Rcase_abs x); lra.
Qed.
Lemma in_min x y X Y : x \in X -> y \in Y -> Rmin x y \in half (sub (add X Y) (I.abs (sub X Y))).
Proof.
  intros H K. replace (Rmin x y) with ((x + y - Rabs (x - y)) / IZR 2).
  - apply in_div; [apply not_0_IZR; lia | | apply in_Z].
    apply in_sub; [now apply in_add | now apply in_abs, in_sub].
  - unfold Rmin, Rabs. destruct (Rle_dec x y), (Rcase_abs (x - y)); lra.
Qed.
Lemma in_sqrt x X : x \in X -> sqrt x \in I.sqrt prec X.
Proof. exact (I.sqrt_correct prec X (Xreal x)). Qed.

Definition nL := Z.of_nat L.
Definition cC := Z.of_nat C.
Hypothesis L_size : (3 <= L)%nat.
Hypothesis C_size : (2 <= C)%nat.
Lemma N_is : N L = IZR nL. Proof. unfold N, nL. apply INR_IZR_INZ. Qed.
Lemma c_is : c C = IZR cC. Proof. unfold c, cC. apply INR_IZR_INZ. Qed.
Lemma N_nz : IZR nL <> 0. Proof. apply not_0_IZR. unfold nL. lia. Qed.
Lemma c_nz : IZR cC <> 0. Proof. apply not_0_IZR. unfold cC. lia. Qed.

Section Six.
Variable t : list (Z * I.type).
Notation E := (fun pis => mean_ball pis t).
Definition T1 := div (add (E (free (L - 1))) (mul (Zb (nL - 1)) (E (i :: free (L - 2))))) (Zb nL).
Definition T2 := div (add (E (free (L - 1))) (mul (Zb (nL - 1)) (E (iij :: free (L - 2))))) (Zb nL).
Definition T3 := div (add (E (free (L - 1))) (mul (Zb (nL - 1)) (E (ijk :: free (L - 2))))) (Zb nL).
Definition T4 := div (add (add (E (i :: free (L - 2))) (E (ii :: free (L - 2)))) (mul (Zb (nL - 2)) (E (ii :: i :: free (L - 3))))) (Zb nL).
Definition T5 := div (add (add (E (i :: free (L - 2))) (E (ij :: free (L - 2)))) (mul (Zb (nL - 2)) (E (ij :: i :: free (L - 3))))) (Zb nL).
Definition Td := div (add (mul (Zb 3) (E (i :: i :: free (L - 3))))
  (if (L =? 3)%nat then Zb 0 else mul (Zb (nL - 3)) (E (i :: i :: i :: free (L - 4))))) (Zb nL).
End Six.
Definition U4 T4 T5 := div (add T4 (mul (Zb (cC - 1)) T5)) (Zb cC).
Definition Second T1 T2 T3 :=
  mul (sub (Zb 1) (div (Zb 1) (Zb cC)))
    (sub (mul (Zb 3) (sub T3 T2))
         (mul (div (Zb 2) (Zb cC)) (add (sub T1 (mul (Zb 3) T2)) (mul (Zb 2) T3)))).

Ltac enclose := repeat first
  [ eassumption | apply in_Z
  | apply in_div; [first [exact N_nz | exact c_nz] | |]
  | apply in_add | apply in_sub | apply in_mul | now apply mean_right ].
Ltac to_Z := rewrite ?N_is, ?c_is;
  rewrite <- ?(minus_IZR nL 1), <- ?(minus_IZR nL 2), <- ?(minus_IZR nL 3), <- ?(minus_IZR cC 1).

Section Right.
Variables (v : R) (V : I.type).
Hypothesis H : v \in V.
Lemma r1 : t1 q C L v \in T1 (table V). Proof. unfold t1, T1. to_Z. enclose. Qed.
Lemma r2 : t2 q C L v \in T2 (table V). Proof. unfold t2, T2. to_Z. enclose. Qed.
Lemma r3 : t3 q C L v \in T3 (table V). Proof. unfold t3, T3. to_Z. enclose. Qed.
Lemma r4 : t4 q C L v \in T4 (table V). Proof. unfold t4, T4. to_Z. enclose. Qed.
Lemma r5 : t5 q C L v \in T5 (table V). Proof. unfold t5, T5. to_Z. enclose. Qed.
Lemma rd : td q C L v \in Td (table V).
Proof.
  unfold td, Td. to_Z. destruct (Nat.eqb_spec L 3) as [e |]; [|enclose].
  replace (IZR (nL - 3)) with 0 by (unfold nL; now rewrite e). rewrite Rmult_0_l. enclose.
Qed.
End Right.
Lemma ru x y X Y : x \in X -> y \in Y -> u C x y \in U4 X Y.
Proof. intros. unfold u, U4. to_Z. enclose. Qed.
Lemma rs x y z X Y Z : x \in X -> y \in Y -> z \in Z -> second C x y z \in Second X Y Z.
Proof. intros. unfold second, Second. to_Z. enclose. Qed.

Definition optimal (x x' y : Z) : bool :=
  let t := table (between x x' y) in
  let x1 := T1 t in let x2 := T2 t in let x3 := T3 t in let x4 := T4 t in let x5 := T5 t in let xd := Td t in
  let m1 := sub (Zb 0) x1 in let s := Second x1 x2 x3 in let u := U4 x4 x5 in
  let b' := if (C =? 2)%nat then m1 else half (sub (add m1 s) (I.abs (sub m1 s))) in
  let a' := mul (Zb 3) (plus_part (sub x4 u)) in
  let case := sub (mul (Zb ((nL - 1) * (nL - 1))) (add a' b')) (mul (Zb (nL * nL)) b') in
  let root := sub (I.sqrt prec (add a' b')) (I.sqrt prec b') in
  let psi := if positive case then Some (sub a' (div b' (Zb (nL - 1))))
             else if negative case then Some (mul (Zb nL) (mul root root)) else None in
  (0 <=? a)%Z && (a <=? b)%Z && negb (y =? 0)%Z && positive (pull_ball x y) && negative (pull_ball x' y)
  && positive b' &&
  match psi with
  | Some psi => negative (add (add (mul (Zb (nL - 2)) (plus_part xd)) psi) (mul (Zb 3) u))
  | None => false
  end.

Lemma optimal_right x x' y : optimal x x' y = true -> Two_inequalities q C L.
Proof.
  unfold optimal. cbv zeta. rewrite !Bool.andb_true_iff. intros [[[[[[A B] Y] P] P'] Hb] Hs].
  apply Z.leb_le in A, B. apply Bool.negb_true_iff, Z.eqb_neq in Y.
  assert (Q : 0 <= q <= 1) by now apply q_range.
  assert (W : forall n, 0 < IZR (2 * b) ^ n) by (intros; apply pow_lt, IZR_lt; lia).
  generalize (is_positive _ _ (pull_right x y Y) P), (is_negative _ _ (pull_right x' y Y) P'). intros p1 p2.
  split.
  { assert (W' := W (C * length (free (L - 1)))%nat).
    assert (lt : IZR x / IZR y < IZR x' / IZR y).
    { destruct (Rle_lt_dec (IZR x' / IZR y) (IZR x / IZR y)) as [h|]; [|assumption]. exfalso.
      generalize (pull_falls _ _ Q h). nra. }
    destruct (IVT_cor _ _ _ pull_continuous (Rlt_le _ _ lt)) as [v [_ Hv]]; [|now exists v]. nra. }
  intros v Hv.
  assert (V : v \in between x x' y).
  { apply in_between; [exact Y|]. split.
    - destruct (Rle_lt_dec (IZR x / IZR y) v) as [|h]; [assumption|]. exfalso.
      generalize (pull_falls _ _ Q (Rlt_le _ _ h)), (W (C * length (free (L - 1)))%nat). nra.
    - destruct (Rle_lt_dec v (IZR x' / IZR y)) as [|h]; [assumption|]. exfalso.
      generalize (pull_falls _ _ Q (Rlt_le _ _ h)), (W (C * length (free (L - 1)))%nat). nra. }
  generalize (r1 _ _ V), (r2 _ _ V), (r3 _ _ V), (r4 _ _ V), (r5 _ _ V), (rd _ _ V). clear P P' p1 p2.
  set (t := table (between x x' y)) in *.
  generalize (t1 q C L v) (t2 q C L v) (t3 q C L v) (t4 q C L v) (t5 q C L v) (td q C L v).
  intros y1 y2 y3 y4 y5 yd R1 R2 R3 R4 R5 Rd. cbv zeta.
  assert (M1 : - y1 \in sub (Zb 0) (T1 t)).
  { replace (- y1) with (IZR 0 - y1) by ring. apply in_sub; [apply in_Z | exact R1]. }
  generalize (rs _ _ _ _ _ _ R1 R2 R3), (ru _ _ _ _ R4 R5).
  generalize (second C y1 y2 y3) (u C y4 y5). intros ys yu Rs Ru.
  set (b0 := if (C =? 2)%nat then - y1 else Rmin (- y1) ys).
  match type of Hb with positive ?X = true => set (b' := X) in * end.
  assert (Rb : b0 \in b').
  { unfold b0, b'. destruct (C =? 2)%nat; [exact M1 | now apply in_min]. }
  clearbody b0 b'.
  set (a0 := 3 * Rmax (y4 - yu) 0).
  match type of Hs with context [sub ?A' (div b' _)] => set (a' := A') in * end.
  assert (Ra : a0 \in a').
  { unfold a0, a'. apply in_mul; [apply in_Z|]. now apply in_plus, in_sub. }
  clearbody a0 a'.
  assert (Hb0 := is_positive _ _ Rb Hb). split; [exact Hb0|].
  assert (Rc : (N L - 1) ^ 2 * (a0 + b0) - N L ^ 2 * b0 \in
    sub (mul (Zb ((nL - 1) * (nL - 1))) (add a' b')) (mul (Zb (nL * nL)) b')).
  { rewrite N_is. replace ((IZR nL - 1) ^ 2) with (IZR ((nL - 1) * (nL - 1)))
      by (rewrite mult_IZR, minus_IZR; ring).
    replace (IZR nL ^ 2) with (IZR (nL * nL)) by (rewrite mult_IZR; ring).
    repeat first [assumption | apply in_Z | apply in_sub | apply in_mul | apply in_add]. }
  assert (Finish : forall psi Psi, psi \in Psi ->
    negative (add (add (mul (Zb (nL - 2)) (plus_part (Td t))) Psi) (mul (Zb 3) (U4 (T4 t) (T5 t)))) = true ->
    (N L - 2) * Rmax yd 0 + psi < -3 * yu).
  { intros psi Psi Rp Hn.
    assert (X : (N L - 2) * Rmax yd 0 + psi + 3 * yu < 0).
    { apply is_negative with (2 := Hn). rewrite N_is, <- minus_IZR.
      repeat first [assumption | apply in_Z | apply in_add | apply in_mul | now apply in_plus]. }
    lra. }
  destruct (positive _) eqn:Pc in Hs.
  - apply (is_positive _ _ Rc) in Pc. destruct (Rle_dec _ _) as [_|no]; [|exfalso; apply no; lra].
    eapply Finish; [|exact Hs]. rewrite N_is, <- minus_IZR. apply in_sub; [exact Ra|].
    apply in_div; [apply not_0_IZR; unfold nL; lia | exact Rb | apply in_Z].
  - destruct (negative _) eqn:Nc in Hs; [|discriminate]. apply (is_negative _ _ Rc) in Nc.
    destruct (Rle_dec _ _) as [yes|_]; [exfalso; lra|].
    eapply Finish; [|exact Hs]. rewrite N_is. apply in_mul; [apply in_Z|].
    replace ((sqrt (a0 + b0) - sqrt b0) ^ 2) with ((sqrt (a0 + b0) - sqrt b0) * (sqrt (a0 + b0) - sqrt b0)) by ring.
    apply in_mul; apply in_sub; apply in_sqrt; try apply in_add; assumption.
Qed.
End Compute.
