(** The window (first-move-window): the same claims for every q of an interval. *)
From Coq Require Import Reals ZArith List Lra Lia.
From Interval Require Import Xreal Interval.
From Book Require Import Ball Vote.
Import ListNotations.
Open Scope R_scope.

Fixpoint sumR (l : list R) (g : Z -> R) (m : Z) : R :=
  match l with [] => 0 | c :: l => c * g m + sumR l g (m + 1) end.
Fixpoint plusR (l r : list R) : list R :=
  match l, r with [], _ => r | _, [] => l | x :: l, y :: r => (x + y) :: plusR l r end.
Lemma sum_plus l r g m : sumR (plusR l r) g m = sumR l g m + sumR r g m.
Proof. revert r m. induction l as [|x l IH]; intros [|y r] m; simpl; try lra. rewrite IH. lra. Qed.
Lemma sum_times c l g m : sumR (map (Rmult c) l) g m = c * sumR l g m.
Proof. revert m. induction l as [|x l IH]; intros m; simpl; [lra|]. rewrite IH. lra. Qed.
Definition moreR x y z l := plusR (map (Rmult x) l) (0 :: plusR (map (Rmult y) l) (0 :: map (Rmult z) l)).
Lemma sum_more x y z l g m :
  sumR (moreR x y z l) g m = x * sumR l g m + y * sumR l g (m + 1) + z * sumR l g (m + 2).
Proof.
  unfold moreR. rewrite sum_plus, sum_times. cbn [sumR]. rewrite sum_plus, sum_times. cbn [sumR].
  rewrite sum_times. replace (m + 1 + 1)%Z with (m + 2)%Z by ring. lra.
Qed.
Fixpoint lawR q n := match n with O => [1] | S n => moreR (q / 2) (1 - q) (q / 2) (lawR q n) end.
Definition turnedR q l := moreR q (1 - q) 0 l.
Lemma lawR_right q n g m : patches q n g m = sumR (lawR q n) g (m - Z.of_nat n).
Proof.
  revert m. induction n as [|n IH]; intros m.
  - simpl. replace (m - 0)%Z with m by ring. lra.
  - cbn [lawR patches]. rewrite sum_more. unfold patch. rewrite !IH, Nat2Z.inj_succ.
    replace (m + -1 - Z.of_nat n)%Z with (m - Z.succ (Z.of_nat n))%Z by lia.
    replace (m + 0 - Z.of_nat n)%Z with (m - Z.succ (Z.of_nat n) + 1)%Z by lia.
    replace (m + 1 - Z.of_nat n)%Z with (m - Z.succ (Z.of_nat n) + 2)%Z by lia. ring.
Qed.
Lemma Delta_lawR q n g C : (2 <= n)%nat ->
  patch q (fun s => patch q (fun t => IZR (1 - s) * IZR (1 - t) * patches q (n - 2) g (C + s + t)))
  = sumR (turnedR q (turnedR q (lawR q (n - 2)))) g (C - Z.of_nat n).
Proof.
  intros N. unfold turnedR. rewrite !sum_more, <- !Z.add_assoc. unfold patch.
  change (1 - 0)%Z with 1%Z. change (1 - 1)%Z with 0%Z. change (1 - -1)%Z with 2%Z. rewrite !lawR_right.
  replace (C + 0 + 0 - Z.of_nat (n - 2))%Z with (C - Z.of_nat n + (1 + 1))%Z by lia.
  replace (C + 0 + -1 - Z.of_nat (n - 2))%Z with (C - Z.of_nat n + 1)%Z by lia.
  replace (C + -1 + 0 - Z.of_nat (n - 2))%Z with (C - Z.of_nat n + 1)%Z by lia.
  replace (C + -1 + -1 - Z.of_nat (n - 2))%Z with (C - Z.of_nat n)%Z by lia. field.
Qed.

Section Balls.
Variable prec : F.precision.
Fixpoint plusI (l r : list I.type) : list I.type :=
  match l, r with [], _ => r | _, [] => l | x :: l, y :: r => I.add prec x y :: plusI l r end.
Definition moreI x y z l := plusI (map (I.mul prec x) l)
  (ofZ prec 0 :: plusI (map (I.mul prec y) l) (ofZ prec 0 :: map (I.mul prec z) l)).
Definition within (x : R) (X : I.type) := x \in X.
Notation all2 := (Forall2 within).
Lemma all_plus l r L M : all2 l L -> all2 r M -> all2 (plusR l r) (plusI L M).
Proof.
  intros H. revert r M. induction H as [|x X l L h H IH]; intros r M K; [exact K|].
  destruct K as [|y Y r M k K]; simpl; constructor; auto. now apply in_add.
Qed.
Lemma all_times c C l L : c \in C -> all2 l L -> all2 (map (Rmult c) l) (map (I.mul prec C) L).
Proof. intros h H. induction H; simpl; constructor; auto. now apply in_mul. Qed.
Lemma all_more x y z X Y Z l L : x \in X -> y \in Y -> z \in Z -> all2 l L -> all2 (moreR x y z l) (moreI X Y Z L).
Proof.
  intros. apply all_plus; [now apply all_times|]. constructor; [apply in_Z|].
  apply all_plus; [now apply all_times|]. constructor; [apply in_Z | now apply all_times].
Qed.
Fixpoint lawI (h r : I.type) n := match n with O => [ofZ prec 1] | S n => moreI h r h (lawI h r n) end.
Fixpoint sumI (e p : Z) (u : I.type) (l : list I.type) (m : Z) : I.type :=
  match l with
  | [] => ofZ prec 0
  | c :: l => I.add prec (I.mul prec (I.mul prec c (ofZ prec (m ^ e)))
      (logistic prec (I.mul prec u (ofZ prec (m ^ p))))) (sumI e p u l (m + 1))
  end.
Lemma sumI_right e k u U l L m : u \in U -> all2 l L ->
  sumR l (fun m => w k u m * IZR (m ^ e)) m \in sumI e (2 * k + 1) U L m.
Proof.
  intros H K. revert m. induction K as [|c Cc l L hc K IH]; intros m; cbn [sumR sumI]; [apply in_Z|].
  apply in_add; [|apply IH].
  replace (c * (w k u m * IZR (m ^ e))) with (c * IZR (m ^ e) * w k u m) by ring.
  apply in_mul; [apply in_mul; [exact hc | apply in_Z]|]. apply in_logistic, in_mul; [exact H | apply in_Z].
Qed.

(** One piece: q between a / d and a' / d, u = x / y. *)
Definition piece (win : bool) (k : Z) (n : nat) (C d a a' x y : Z) : bool :=
  let Q := I.join (ofQ prec a d) (ofQ prec a' d) in
  let h := I.div prec Q (ofZ prec 2) in let r := I.sub prec (ofZ prec 1) Q in let U := ofQ prec x y in
  let l := lawI h r (n - 2) in
  let turn := moreI Q r (ofZ prec 0) in
  let fb := sumI (2 * k + 1) (2 * k + 1) U (moreI h r h (moreI h r h l)) (C - Z.of_nat n) in
  let Db := sumI (2 * k - 1) (2 * k + 1) U (turn (turn l)) (C - Z.of_nat n) in
  (1 <=? k)%Z && (2 <=? n)%nat && negb (d =? 0)%Z && negb (y =? 0)%Z &&
  (if win then negative fb && positive Db else positive fb && negative Db).
Definition claim (win : bool) k q n C := if win then Companions_win k q n C else Companions_lose k q n C.
Lemma all_law q n h r : q / 2 \in h -> 1 - q \in r -> all2 (lawR q n) (lawI h r n).
Proof. intros. induction n as [|n IH]; simpl; [constructor; [apply in_Z | constructor] | now apply all_more]. Qed.
Lemma piece_right win k n C d a a' x y : piece win k n C d a a' x y = true ->
  forall q, 0 <= q <= 1 -> IZR a / IZR d <= q <= IZR a' / IZR d -> claim win k q n C.
Proof.
  unfold piece. cbv zeta. rewrite !Bool.andb_true_iff. intros [[[[K N] Dd] Y] H] q Q B.
  apply Z.leb_le in K. apply Nat.leb_le in N. apply Bool.negb_true_iff, Z.eqb_neq in Dd, Y.
  set (J := I.join _ _) in *.
  assert (q_in : q \in J).
  { apply (contains_connected _ (IZR a / IZR d) (IZR a' / IZR d)); [| |exact B];
      apply I.join_correct; [left | right]; now apply in_Q. }
  assert (h_in : q / 2 \in I.div prec J (ofZ prec 2)) by (apply in_div; [lra | exact q_in | apply in_Z]).
  assert (r_in : 1 - q \in I.sub prec (ofZ prec 1) J) by (apply in_sub; [apply in_Z | exact q_in]).
  assert (u_in : IZR x / IZR y \in ofQ prec x y) by now apply in_Q.
  set (h := I.div prec J _) in *. set (r := I.sub prec _ J) in *. set (l := lawI h r (n - 2)) in *.
  assert (f_in : f k q n C (IZR x / IZR y) \in sumI (2 * k + 1) (2 * k + 1) (ofQ prec x y) (moreI h r h (moreI h r h l)) (C - Z.of_nat n)).
  { unfold f. rewrite lawR_right. destruct n as [|[|n]]; [lia | lia |].
    apply sumI_right; [exact u_in|]. cbn [lawR]. unfold l. replace (S (S n) - 2)%nat with n by lia.
    repeat apply all_more; try assumption. now apply all_law. }
  assert (D_in : Delta k q n C (IZR x / IZR y) \in sumI (2 * k - 1) (2 * k + 1) (ofQ prec x y)
      (moreI J r (ofZ prec 0) (moreI J r (ofZ prec 0) l)) (C - Z.of_nat n)).
  { unfold Delta. rewrite Delta_lawR by exact N. apply sumI_right; [exact u_in|].
    unfold turnedR. repeat apply all_more; try assumption; try apply in_Z. now apply all_law. }
  destruct win; apply Bool.andb_true_iff in H; destruct H as [H1 H2]; simpl.
  - eapply win_by_one_sign; [exact K | exact Q | |]; [eapply is_negative; eassumption | eapply is_positive; eassumption].
  - eapply lose_by_one_sign; [exact K | exact Q | |]; [eapply is_positive; eassumption | eapply is_negative; eassumption].
Qed.
(** Pieces one after the other, from a to the last end. *)
Fixpoint pieces win k n C d a e y (l : list (Z * Z)) : bool :=
  match l with
  | [] => false
  | (a', x) :: r => piece win k n C d a a' x y &&
      match r with [] => (a' =? e)%Z | _ => pieces win k n C d a' e y r end
  end.
Lemma pieces_right win k n C d y l a e : pieces win k n C d a e y l = true -> forall q, 0 <= q <= 1 ->
  IZR a / IZR d <= q <= IZR e / IZR d -> claim win k q n C.
Proof.
  revert a. induction l as [|[a' x] l IH]; intros a H q Q B; [discriminate|].
  cbn [pieces] in H. apply Bool.andb_true_iff in H. destruct H as [H1 H2].
  destruct (Rle_lt_dec q (IZR a' / IZR d)) as [le | lt]; [eapply piece_right; [exact H1 | exact Q | lra]|].
  destruct l as [|z l]; [apply Z.eqb_eq in H2; subst; exfalso; lra|].
  apply (IH a' H2 q Q). lra.
Qed.
End Balls.
