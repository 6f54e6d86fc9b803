(** The cubic form of a row of attention, in the six numbers of the two inequalities. *)
From Coq Require Import Reals ZArith List Lra Lia.
From Book Require Import Ball Vote Blocks Risk.
Import ListNotations.
Open Scope R_scope.

Section Form.
Variable q : R.

Lemma patch_plus g h : patch q (fun s => g s + h s) = patch q g + patch q h.
Proof. unfold patch. ring. Qed.
Lemma patch_times c g : patch q (fun s => c * g s) = c * patch q g.
Proof. unfold patch. ring. Qed.
Lemma patch_swap (g : Z -> Z -> R) : patch q (fun s => patch q (g s)) = patch q (fun t => patch q (fun s => g s t)).
Proof. unfold patch. ring. Qed.
Lemma words_ext n g h : (forall l, g l = h l) -> words q n g = words q n h.
Proof.
  revert g h. induction n as [|n IH]; intros g h H; cbn [words]; [apply H|].
  apply patch_ext. intros s. apply IH. intros l. apply H.
Qed.
Lemma patch_words n (g : Z -> list Z -> R) : patch q (fun s => words q n (g s)) = words q n (fun l => patch q (fun s => g s l)).
Proof.
  revert g. induction n as [|n IH]; intros g; cbn [words]; [reflexivity|].
  rewrite patch_swap. apply patch_ext. intros t. apply (IH (fun s l => g s (t :: l))).
Qed.
Lemma words_words n k (g : list Z -> list Z -> R) :
  words q n (fun l => words q k (g l)) = words q k (fun r => words q n (fun l => g l r)).
Proof.
  revert g. induction n as [|n IH]; intros g; cbn [words]; [reflexivity|].
  rewrite <- patch_words. apply patch_ext. intros s. apply (IH (fun l => g (s :: l))).
Qed.

(** * One set: a sum of weighted signs, to the powers one, two, three *)

Fixpoint dotl (a : list R) (l : list Z) : R :=
  match a, l with x :: a, s :: l => x * IZR s + dotl a l | _, _ => 0 end.
Definition power (k : nat) (a : list R) : R := fold_right (fun x s => x ^ k + s) 0 a.

(** E[product of the first signs * g (sum of all)] for c more patches behind them. *)
Definition e1 c (g : Z -> R) := words q (S c) (fun l => IZR (i l) * g (sum l)).
Definition e2 c (g : Z -> R) := words q (S c) (fun l => IZR (ii l) * g (sum l)).
Definition e11 c (g : Z -> R) := words q (S (S c)) (fun l => IZR (ij l) * g (sum l)).
Definition e21 c (g : Z -> R) := words q (S (S c)) (fun l => IZR (iij l) * g (sum l)).
Definition e111 c (g : Z -> R) := words q (S (S (S c))) (fun l => IZR (ijk l) * g (sum l)).
Definition shift (s : Z) (g : Z -> R) : Z -> R := fun m => g (s + m)%Z.

Lemma more1 c g : patch q (fun s => e1 c (shift s g)) = e1 (S c) g.
Proof.
  unfold e1. cbn [words]. rewrite patch_swap. apply patch_ext. intros s. apply patch_ext. intros t.
  apply words_ext. intros l. unfold shift, i. cbn [nth sum fold_right]. do 2 f_equal. unfold sum. ring.
Qed.
Lemma more2 c g : patch q (fun s => e2 c (shift s g)) = e2 (S c) g.
Proof.
  unfold e2. cbn [words]. rewrite patch_swap. apply patch_ext. intros s. apply patch_ext. intros t.
  apply words_ext. intros l. unfold shift, ii, i. cbn [nth sum fold_right]. do 2 f_equal. unfold sum. ring.
Qed.
Lemma more11 c g : patch q (fun s => e11 c (shift s g)) = e11 (S c) g.
Proof.
  unfold e11. cbn [words]. rewrite patch_swap. apply patch_ext. intros s. rewrite patch_swap.
  apply patch_ext. intros t. apply patch_ext. intros r.
  apply words_ext. intros l. unfold shift, ij, i. cbn [nth sum fold_right]. do 2 f_equal. unfold sum. ring.
Qed.
Lemma more21 c g : patch q (fun s => e21 c (shift s g)) = e21 (S c) g.
Proof.
  unfold e21. cbn [words]. rewrite patch_swap. apply patch_ext. intros s. rewrite patch_swap.
  apply patch_ext. intros t. apply patch_ext. intros r.
  apply words_ext. intros l. unfold shift, iij, i. cbn [nth sum fold_right]. do 2 f_equal. unfold sum. ring.
Qed.
Lemma more111 c g : patch q (fun s => e111 c (shift s g)) = e111 (S c) g.
Proof.
  unfold e111. cbn [words]. rewrite patch_swap. apply patch_ext. intros s. rewrite patch_swap.
  apply patch_ext. intros t. rewrite patch_swap. apply patch_ext. intros r. apply patch_ext. intros p.
  apply words_ext. intros l. unfold shift, ijk, i. cbn [nth sum fold_right]. do 2 f_equal. unfold sum. ring.
Qed.
Lemma times1 c g : patch q (fun s => IZR s * e1 c (shift s g)) = e11 c g.
Proof.
  unfold e1, e11. cbn [words]. apply patch_ext. intros s. rewrite <- patch_times. apply patch_ext. intros t.
  rewrite <- words_times. apply words_ext. intros l. unfold shift, ij, i. cbn [nth sum fold_right]. rewrite mult_IZR.
  unfold sum. ring.
Qed.
Lemma square1 c g : patch q (fun s => IZR (s * s) * e1 c (shift s g)) = e21 c g.
Proof.
  unfold e1, e21. cbn [words]. apply patch_ext. intros s. rewrite <- patch_times. apply patch_ext. intros t.
  rewrite <- words_times. apply words_ext. intros l. unfold shift, iij, i. cbn [nth sum fold_right]. rewrite !mult_IZR.
  unfold sum. ring.
Qed.
Lemma times2 c g : patch q (fun s => IZR s * e2 c (shift s g)) = e21 c g.
Proof.
  unfold e2, e21. cbn [words]. transitivity (patch q (fun s => patch q (fun t => words q c (fun l =>
    IZR s * (IZR (ii (t :: l)) * shift s g (sum (t :: l))))))).
  - apply patch_ext. intros s. rewrite <- patch_times. apply patch_ext. intros t. symmetry. apply words_times.
  - rewrite patch_swap. apply patch_ext. intros s. apply patch_ext. intros t. apply words_ext. intros l.
    unfold shift, ii, iij, i. cbn [nth sum fold_right]. rewrite !mult_IZR.
    replace (t + (s + fold_right Z.add 0 l))%Z with (s + (t + fold_right Z.add 0 l))%Z by ring. ring.
Qed.
Lemma times11 c g : patch q (fun s => IZR s * e11 c (shift s g)) = e111 c g.
Proof.
  unfold e11, e111. cbn [words]. apply patch_ext. intros s. rewrite <- patch_times. apply patch_ext. intros t.
  rewrite <- patch_times. apply patch_ext. intros r.
  rewrite <- words_times. apply words_ext. intros l. unfold shift, ijk, ij, i. cbn [nth sum fold_right]. rewrite !mult_IZR.
  unfold sum. ring.
Qed.
Lemma first c g : patch q (fun s => IZR s * words q c (fun l => shift s g (sum l))) = e1 c g.
Proof.
  unfold e1. cbn [words]. apply patch_ext. intros s. rewrite <- words_times. apply words_ext. intros l.
  unfold shift, i. cbn [nth sum fold_right]. reflexivity.
Qed.
Lemma first2 c g : patch q (fun s => IZR (s * s) * words q c (fun l => shift s g (sum l))) = e2 c g.
Proof.
  unfold e2. cbn [words]. apply patch_ext. intros s. rewrite <- words_times. apply words_ext. intros l.
  unfold shift, ii, i. cbn [nth sum fold_right]. reflexivity.
Qed.
Lemma cube_is g c : patch q (fun s => IZR (s * s * s) * words q c (fun l => shift s g (sum l))) = e1 c g.
Proof. rewrite <- first. unfold patch. simpl. ring. Qed.

(** C - 1, C - 2 or C - 3 patches lie behind; where there are fewer, the weight in front is zero. *)
Lemma set1 a g : words q (length a) (fun l => dotl a l * g (sum l)) = power 1 a * e1 (length a - 1) g.
Proof.
  revert g. induction a as [|x a IH]; intros g; [cbn; ring|].
  cbn [length]. replace (S (length a) - 1)%nat with (length a) by lia.
  transitivity (x * e1 (length a) g + patch q (fun s => words q (length a) (fun l => dotl a l * shift s g (sum l)))).
  - cbn [words]. rewrite <- first, <- patch_times, <- patch_plus. apply patch_ext. intros s.
    rewrite <- words_times, <- words_times, <- words_plus. apply words_ext. intros l. cbn [dotl]. unfold shift.
    change (sum (s :: l)) with (s + sum l)%Z. ring.
  - rewrite (patch_ext q _ (fun s => power 1 a * e1 (length a - 1) (shift s g))) by (intros; apply IH).
    rewrite patch_times. unfold power at 2. cbn [fold_right]. fold (power 1 a).
    destruct a as [|y a]; [cbn; ring|]. cbn [length]. replace (S (length a) - 1)%nat with (length a) by lia.
    rewrite more1. ring.
Qed.
Lemma set2 a g : words q (length a) (fun l => dotl a l ^ 2 * g (sum l)) =
  power 2 a * e2 (length a - 1) g + (power 1 a ^ 2 - power 2 a) * e11 (length a - 2) g.
Proof.
  revert g. induction a as [|x a IH]; intros g; [cbn; ring|].
  cbn [length]. replace (S (length a) - 1)%nat with (length a) by lia.
  transitivity (x ^ 2 * e2 (length a) g + 2 * x * patch q (fun s => IZR s * words q (length a) (fun l => dotl a l * shift s g (sum l)))
    + patch q (fun s => words q (length a) (fun l => dotl a l ^ 2 * shift s g (sum l)))).
  - cbn [words]. rewrite <- first2, <- !patch_times, <- !patch_plus. apply patch_ext. intros s.
    rewrite <- !words_times, <- !words_plus. apply words_ext. intros l. cbn [dotl]. unfold shift. rewrite mult_IZR.
    change (sum (s :: l)) with (s + sum l)%Z. ring.
  - rewrite (patch_ext q (fun s => words q (length a) (fun l => dotl a l ^ 2 * shift s g (sum l))) (fun s => power 2 a * e2 (length a - 1) (shift s g) + (power 1 a ^ 2 - power 2 a) * e11 (length a - 2) (shift s g))) by (intros; apply IH).
    rewrite patch_plus, !patch_times.
    rewrite (patch_ext q (fun s => IZR s * words q (length a) (fun l => dotl a l * shift s g (sum l))) (fun s => power 1 a * (IZR s * e1 (length a - 1) (shift s g)))).
    2: { intros s. rewrite set1. ring. }
    rewrite patch_times, times1.
    change (power 2 (x :: a)) with (x ^ 2 + power 2 a). change (power 1 (x :: a)) with (x ^ 1 + power 1 a).
    destruct a as [|y [|z a]].
    + unfold power. cbn [fold_right length Nat.sub]. ring.
    + cbn [length Nat.sub]. rewrite ?Nat.sub_0_r, ?more2. unfold power. cbn [fold_right]. ring.
    + cbn [length Nat.sub]. rewrite ?Nat.sub_0_r, ?more2, more11. ring.
Qed.
Lemma set3 a g : words q (length a) (fun l => dotl a l ^ 3 * g (sum l)) =
  power 3 a * e1 (length a - 1) g + 3 * (power 1 a * power 2 a - power 3 a) * e21 (length a - 2) g
  + (power 1 a ^ 3 - 3 * power 1 a * power 2 a + 2 * power 3 a) * e111 (length a - 3) g.
Proof.
  revert g. induction a as [|x a IH]; intros g; [cbn; ring|].
  cbn [length]. replace (S (length a) - 1)%nat with (length a) by lia.
  transitivity (x ^ 3 * e1 (length a) g
    + 3 * x ^ 2 * patch q (fun s => IZR (s * s) * words q (length a) (fun l => dotl a l * shift s g (sum l)))
    + 3 * x * patch q (fun s => IZR s * words q (length a) (fun l => dotl a l ^ 2 * shift s g (sum l)))
    + patch q (fun s => words q (length a) (fun l => dotl a l ^ 3 * shift s g (sum l)))).
  - cbn [words]. rewrite <- cube_is, <- !patch_times, <- !patch_plus. apply patch_ext. intros s.
    rewrite <- !words_times, <- !words_plus. apply words_ext. intros l. cbn [dotl]. unfold shift. rewrite !mult_IZR.
    change (sum (s :: l)) with (s + sum l)%Z. ring.
  - rewrite (patch_ext q (fun s => words q (length a) (fun l => dotl a l ^ 3 * shift s g (sum l))) (fun s => power 3 a * e1 (length a - 1) (shift s g)
      + 3 * (power 1 a * power 2 a - power 3 a) * e21 (length a - 2) (shift s g)
      + (power 1 a ^ 3 - 3 * power 1 a * power 2 a + 2 * power 3 a) * e111 (length a - 3) (shift s g))) by (intros; apply IH).
    rewrite !patch_plus, !patch_times.
    rewrite (patch_ext q (fun s => IZR (s * s) * words q (length a) (fun l => dotl a l * shift s g (sum l))) (fun s => power 1 a * (IZR (s * s) * e1 (length a - 1) (shift s g)))).
    2: { intros s. rewrite set1. ring. }
    rewrite (patch_ext q (fun s => IZR s * words q (length a) (fun l => dotl a l ^ 2 * shift s g (sum l))) (fun s => power 2 a * (IZR s * e2 (length a - 1) (shift s g))
      + (power 1 a ^ 2 - power 2 a) * (IZR s * e11 (length a - 2) (shift s g)))).
    2: { intros s. rewrite set2. ring. }
    rewrite patch_plus, !patch_times, square1, times2, times11.
    change (power 3 (x :: a)) with (x ^ 3 + power 3 a).
    change (power 2 (x :: a)) with (x ^ 2 + power 2 a). change (power 1 (x :: a)) with (x ^ 1 + power 1 a).
    destruct a as [|y [|z [|p a]]].
    + unfold power. cbn [fold_right length Nat.sub]. ring.
    + cbn [length Nat.sub]. rewrite ?Nat.sub_0_r, ?more1. unfold power. cbn [fold_right]. ring.
    + cbn [length Nat.sub]. rewrite ?Nat.sub_0_r, ?more1, more21. unfold power. cbn [fold_right]. ring.
    + cbn [length Nat.sub]. rewrite ?Nat.sub_0_r, ?more1, more21, more111. ring.
Qed.
End Form.

(** * Many sets *)

Section Sets.
Variables (q : R) (C : nat).
Hypothesis C_size : (2 <= C)%nat.
Notation mean := (mean q C).
Definition one (l : list Z) : Z := 1%Z.

Lemma words_mean pis g m : words q C (fun l => mean pis g (m + sum l ^ 3)) = mean (one :: pis) g m.
Proof. cbn [Blocks.mean]. apply words_ext. intros l. unfold one. ring. Qed.
Lemma mean_congr pi pis pis' g m : (forall m, mean pis g m = mean pis' g m) -> mean (pi :: pis) g m = mean (pi :: pis') g m.
Proof. intros H. cbn [Blocks.mean]. apply words_ext. intros l. now rewrite H. Qed.
Lemma swap pi pi' pis g m : mean (pi :: pi' :: pis) g m = mean (pi' :: pi :: pis) g m.
Proof.
  cbn [Blocks.mean].
  transitivity (words q C (fun l => words q C (fun r => IZR (pi l) * (IZR (pi' r) * mean pis g (m + sum l ^ 3 + sum r ^ 3))))).
  - apply words_ext. intros l. now rewrite words_times.
  - rewrite words_words. apply words_ext. intros l. rewrite <- words_times. apply words_ext. intros r.
    replace (m + sum r ^ 3 + sum l ^ 3)%Z with (m + sum l ^ 3 + sum r ^ 3)%Z by ring. ring.
Qed.
Lemma past1 a k g m : mean (one :: a :: free k) g m = mean (a :: free (S k)) g m.
Proof. apply swap. Qed.
Lemma past2 a b k g m : mean (one :: a :: b :: free k) g m = mean (a :: b :: free (S k)) g m.
Proof. rewrite swap. apply mean_congr. intros m'. apply past1. Qed.
Lemma past3 a b c k g m : mean (one :: a :: b :: c :: free k) g m = mean (a :: b :: c :: free (S k)) g m.
Proof. rewrite swap. apply mean_congr. intros m'. apply past2. Qed.

Lemma one1 x pis g m : length x = C -> words q C (fun l => dotl x l * mean pis g (m + sum l ^ 3)) = power 1 x * mean (i :: pis) g m.
Proof.
  intros H. generalize (set1 q x (fun s => mean pis g (m + s ^ 3))). rewrite H. intros ->. unfold e1.
  replace (S (C - 1)) with C by lia. reflexivity.
Qed.
Lemma one2 x pis g m : length x = C -> words q C (fun l => dotl x l ^ 2 * mean pis g (m + sum l ^ 3)) =
  power 2 x * mean (ii :: pis) g m + (power 1 x ^ 2 - power 2 x) * mean (ij :: pis) g m.
Proof.
  intros H. generalize (set2 q x (fun s => mean pis g (m + s ^ 3))). rewrite H. intros ->. unfold e2, e11.
  replace (S (C - 1)) with C by lia. replace (S (S (C - 2))) with C by lia. reflexivity.
Qed.
Lemma one3 x pis g m : length x = C -> words q C (fun l => dotl x l ^ 3 * mean pis g (m + sum l ^ 3)) =
  power 3 x * mean (i :: pis) g m + 3 * (power 1 x * power 2 x - power 3 x) * mean (iij :: pis) g m
  + (power 1 x ^ 3 - 3 * power 1 x * power 2 x + 2 * power 3 x) * mean (ijk :: pis) g m.
Proof.
  intros H. generalize (set3 q x (fun s => mean pis g (m + s ^ 3))). rewrite H. intros ->. unfold e1, e21, e111.
  replace (S (C - 1)) with C by lia. replace (S (S (C - 2))) with C by lia. f_equal.
  destruct (Nat.eq_dec C 2) as [e | e]; [|now replace (S (S (S (C - 3)))) with C by lia].
  assert (Z : power 1 x ^ 3 - 3 * power 1 x * power 2 x + 2 * power 3 x = 0).
  { destruct x as [|y [|z [|p x]]]; cbn in H; try lia. unfold power. cbn [fold_right]. ring. }
  rewrite Z. ring.
Qed.

Fixpoint heardl (a : list (list R)) (r : list (list Z)) : R :=
  match a, r with x :: a, l :: r => dotl x l + heardl a r | _, _ => 0 end.
(** Sums over the sets: of mass^k, of mass^j p_k. *)
Definition tot (h : list R -> R) (a : list (list R)) : R := fold_right (fun x s => h x + s) 0 a.
Definition M k a := tot (fun x => power 1 x ^ k) a.
Definition Q2 a := tot (power 2) a.
Definition QM a := tot (fun x => power 1 x * power 2 x) a.
Definition P3 a := tot (power 3) a.

Lemma cons_cubes (g : Z -> R) m l r : g (m + cubes (l :: r))%Z = g (m + sum l ^ 3 + cubes r)%Z.
Proof. f_equal. unfold cubes. cbn [fold_right]. ring. Qed.
Lemma sets_ext k g h : (forall r, g r = h r) -> sets q C k g = sets q C k h.
Proof.
  revert g h. induction k as [|k IH]; intros g h H; cbn [sets]; [apply H|].
  apply words_ext. intros l. apply IH. intros r. apply H.
Qed.
Lemma sets_add k g h : sets q C k (fun r => g r + h r) = sets q C k g + sets q C k h.
Proof.
  revert g h. induction k as [|k IH]; intros g h; cbn [sets]; [reflexivity|]. rewrite <- words_plus.
  apply words_ext. intros l. apply IH.
Qed.
Lemma sets_mul k c g : sets q C k (fun r => c * g r) = c * sets q C k g.
Proof.
  revert g. induction k as [|k IH]; intros g; cbn [sets]; [reflexivity|]. rewrite <- words_times.
  apply words_ext. intros l. apply IH.
Qed.
Lemma many0 k g m : sets q C k (fun r => g (m + cubes r)%Z) = mean (free k) g m.
Proof.
  revert m. induction k as [|k IH]; intros m; cbn [sets]; [cbn; f_equal; ring|].
  change (free (S k)) with (one :: free k). rewrite <- words_mean. apply words_ext. intros l. rewrite <- IH. apply sets_ext. intros r. apply cons_cubes.
Qed.
Definition shaped a := Forall (fun x : list R => length x = C) a.
Lemma many1 a g m : shaped a -> sets q C (length a) (fun r => heardl a r * g (m + cubes r)%Z) = M 1 a * mean (i :: free (length a - 1)) g m.
Proof.
  intros H. revert m. induction H as [|x a Hx Ha IH]; intros m; [cbn; ring|].
  cbn [length sets]. replace (S (length a) - 1)%nat with (length a) by lia.
  transitivity (words q C (fun l => dotl x l * mean (free (length a)) g (m + sum l ^ 3))
    + words q C (fun l => M 1 a * mean (i :: free (length a - 1)) g (m + sum l ^ 3))).
  - rewrite <- words_plus. apply words_ext. intros l. rewrite <- IH, <- many0, <- sets_mul, <- sets_add.
    apply sets_ext. intros r. rewrite cons_cubes. cbn [heardl]. ring.
  - rewrite one1 by exact Hx. rewrite words_times, words_mean.
    change (M 1 (x :: a)) with (power 1 x ^ 1 + M 1 a).
    destruct a as [|y a]; [cbn [length]; unfold M, tot; cbn [fold_right]; ring|].
    cbn [length Nat.sub]. rewrite ?Nat.sub_0_r, past1. ring.
Qed.
Lemma many2 a g m : shaped a -> sets q C (length a) (fun r => heardl a r ^ 2 * g (m + cubes r)%Z) =
  Q2 a * mean (ii :: free (length a - 1)) g m + (M 2 a - Q2 a) * mean (ij :: free (length a - 1)) g m
  + (M 1 a ^ 2 - M 2 a) * mean (i :: i :: free (length a - 2)) g m.
Proof.
  intros H. revert m. induction H as [|x a Hx Ha IH]; intros m; [unfold Q2, M, tot; cbn; ring|].
  cbn [length sets]. replace (S (length a) - 1)%nat with (length a) by lia.
  transitivity (words q C (fun l => dotl x l ^ 2 * mean (free (length a)) g (m + sum l ^ 3))
    + (2 * M 1 a) * words q C (fun l => dotl x l * mean (i :: free (length a - 1)) g (m + sum l ^ 3))
    + words q C (fun l => Q2 a * mean (ii :: free (length a - 1)) g (m + sum l ^ 3) + (M 2 a - Q2 a) * mean (ij :: free (length a - 1)) g (m + sum l ^ 3)
  + (M 1 a ^ 2 - M 2 a) * mean (i :: i :: free (length a - 2)) g (m + sum l ^ 3))).
  - rewrite <- words_times, <- !words_plus. apply words_ext. intros l. rewrite <- IH, <- many0.
    replace (2 * M 1 a * (dotl x l * mean (i :: free (length a - 1)) g (m + sum l ^ 3)))
      with ((2 * dotl x l) * (M 1 a * mean (i :: free (length a - 1)) g (m + sum l ^ 3))) by ring.
    rewrite <- many1 by exact Ha. rewrite <- !sets_mul, <- !sets_add.
    apply sets_ext. intros r. rewrite cons_cubes. cbn [heardl]. ring.
  - rewrite one1, one2 by exact Hx. rewrite !words_plus, !words_times, !words_mean.
    change (M 1 (x :: a)) with (power 1 x ^ 1 + M 1 a). change (M 2 (x :: a)) with (power 1 x ^ 2 + M 2 a).
    change (Q2 (x :: a)) with (power 2 x + Q2 a).
    destruct a as [|y [|z a]].
    + unfold M, Q2, tot. cbn [fold_right length Nat.sub]. ring.
    + cbn [length Nat.sub]. rewrite !past1. unfold M, Q2, tot. cbn [fold_right]. ring.
    + cbn [length Nat.sub]. rewrite ?Nat.sub_0_r, !past1, !past2. ring.
Qed.
Lemma many3 a g m : shaped a -> sets q C (length a) (fun r => heardl a r ^ 3 * g (m + cubes r)%Z) =
  P3 a * mean (i :: free (length a - 1)) g m + 3 * (QM a - P3 a) * mean (iij :: free (length a - 1)) g m
  + (M 3 a - 3 * QM a + 2 * P3 a) * mean (ijk :: free (length a - 1)) g m
  + 3 * (M 1 a * Q2 a - QM a) * mean (ii :: i :: free (length a - 2)) g m
  + 3 * (M 1 a * M 2 a - M 3 a - (M 1 a * Q2 a - QM a)) * mean (ij :: i :: free (length a - 2)) g m
  + (M 1 a ^ 3 - 3 * M 1 a * M 2 a + 2 * M 3 a) * mean (i :: i :: i :: free (length a - 3)) g m.
Proof.
  intros H. revert m. induction H as [|x a Hx Ha IH]; intros m; [unfold P3, QM, Q2, M, tot; cbn; ring|].
  cbn [length sets]. replace (S (length a) - 1)%nat with (length a) by lia.
  set (k := length a) in *.
  transitivity (words q C (fun l => dotl x l ^ 3 * mean (free k) g (m + sum l ^ 3))
    + (3 * M 1 a) * words q C (fun l => dotl x l ^ 2 * mean (i :: free (k - 1)) g (m + sum l ^ 3))
    + (3 * Q2 a) * words q C (fun l => dotl x l * mean (ii :: free (k - 1)) g (m + sum l ^ 3))
    + (3 * (M 2 a - Q2 a)) * words q C (fun l => dotl x l * mean (ij :: free (k - 1)) g (m + sum l ^ 3))
    + (3 * (M 1 a ^ 2 - M 2 a)) * words q C (fun l => dotl x l * mean (i :: i :: free (k - 2)) g (m + sum l ^ 3))
    + words q C (fun l => P3 a * mean (i :: free (k - 1)) g (m + sum l ^ 3) + 3 * (QM a - P3 a) * mean (iij :: free (k - 1)) g (m + sum l ^ 3)
  + (M 3 a - 3 * QM a + 2 * P3 a) * mean (ijk :: free (k - 1)) g (m + sum l ^ 3)
  + 3 * (M 1 a * Q2 a - QM a) * mean (ii :: i :: free (k - 2)) g (m + sum l ^ 3)
  + 3 * (M 1 a * M 2 a - M 3 a - (M 1 a * Q2 a - QM a)) * mean (ij :: i :: free (k - 2)) g (m + sum l ^ 3)
  + (M 1 a ^ 3 - 3 * M 1 a * M 2 a + 2 * M 3 a) * mean (i :: i :: i :: free (k - 3)) g (m + sum l ^ 3))).
  - rewrite <- !words_times, <- !words_plus. apply words_ext. intros l. rewrite <- IH, <- many0.
    assert (E1 := many1 a g (m + sum l ^ 3) Ha). assert (E2 := many2 a g (m + sum l ^ 3) Ha). fold k in E1, E2.
    transitivity (dotl x l ^ 3 * sets q C k (fun r => g (m + sum l ^ 3 + cubes r)%Z)
      + (3 * dotl x l ^ 2) * sets q C k (fun r => heardl a r * g (m + sum l ^ 3 + cubes r)%Z)
      + (3 * dotl x l) * sets q C k (fun r => heardl a r ^ 2 * g (m + sum l ^ 3 + cubes r)%Z)
      + sets q C k (fun r => heardl a r ^ 3 * g (m + sum l ^ 3 + cubes r)%Z)).
    + rewrite <- !sets_mul, <- !sets_add. apply sets_ext. intros r. rewrite cons_cubes. cbn [heardl]. ring.
    + rewrite E1, E2. ring.
  - rewrite !one1, one2, one3 by exact Hx. rewrite !words_plus, !words_times, !words_mean.
    change (M 1 (x :: a)) with (power 1 x ^ 1 + M 1 a). change (M 2 (x :: a)) with (power 1 x ^ 2 + M 2 a).
    change (M 3 (x :: a)) with (power 1 x ^ 3 + M 3 a). change (P3 (x :: a)) with (power 3 x + P3 a).
    change (Q2 (x :: a)) with (power 2 x + Q2 a). change (QM (x :: a)) with (power 1 x * power 2 x + QM a).
    rewrite (swap i ii), (swap i ij). subst k.
    destruct a as [|y [|z [|p a]]].
    + unfold M, Q2, QM, P3, tot. cbn [fold_right length Nat.sub]. ring.
    + cbn [length Nat.sub]. rewrite !past1. unfold M, Q2, QM, P3, tot. cbn [fold_right]. ring.
    + cbn [length Nat.sub]. rewrite !past1, !past2. unfold M, Q2, QM, P3, tot. cbn [fold_right]. ring.
    + cbn [length Nat.sub]. rewrite ?Nat.sub_0_r, !past1, !past2, !past3. ring.
Qed.
End Sets.

(** * The form in six numbers *)

Section Six.
Variables (q : R) (C L : nat).
Hypothesis q_range : 0 <= q <= 1.
Hypothesis C_size : (2 <= C)%nat.
Hypothesis L_size : (3 <= L)%nat.
Notation mean := (mean q C).

(** Of the form in masses and power sums, the six numbers t: what Proposition "Two inequalities" is about. *)
Definition six (t1 t2 t3 t4 t5 td : R) (a : list (list R)) : R :=
  td + (t1 - 3 * t2 + 2 * t3) * P3 a + 3 * ((t2 - t3) * QM a + (t4 - t5) * (Q2 a - QM a))
  + t3 * M 3 a + 3 * t5 * (M 2 a - M 3 a) + td * (2 * M 3 a - 3 * M 2 a).

Lemma dotl_ones x : length x = C -> dotl x (repeat 1%Z C) = power 1 x.
Proof.
  intros H. rewrite <- H. clear H. induction x as [|y x IH]; cbn [dotl length repeat]; [reflexivity|].
  rewrite IH. unfold power. cbn [fold_right]. ring.
Qed.
Lemma sum_ones n : sum (repeat 1%Z n) = Z.of_nat n.
Proof. induction n as [|n IH]; [reflexivity|]. cbn [repeat]. change (sum (1 :: repeat 1 n))%Z with (1 + sum (repeat 1 n))%Z. rewrite IH. lia. Qed.

(** The signal set in its place: own mass, and the others without it. *)
Definition without (l : nat) (a : list (list R)) := firstn l a ++ skipn (S l) a.
Lemma heardl_placed l a r : shaped C a -> length a = S (length r) -> (l <= length r)%nat ->
  heardl a (placed C l r) = power 1 (nth l a []) + heardl (without l a) r.
Proof.
  revert l a. induction r as [|y r IH]; intros l a Ha Hl Hr.
  - destruct a as [|x [|z a]]; cbn in Hl; try lia. cbn in Hr. assert (l = 0)%nat by lia. subst l. apply Forall_inv in Ha.
    unfold placed, without. cbn [firstn skipn app nth heardl]. rewrite dotl_ones by assumption. ring.
  - destruct a as [|x a]; cbn in Hl; [lia|]. assert (H1 := Forall_inv Ha). assert (H2 := Forall_inv_tail Ha). destruct l as [|l].
    + unfold placed, without. cbn [firstn skipn app nth heardl]. rewrite dotl_ones by assumption. ring.
    + assert (X := IH l a H2 ltac:(lia) ltac:(cbn in Hr; lia)). unfold placed, without in *.
      rewrite !skipn_cons. cbn [firstn app nth heardl]. rewrite X. ring.
Qed.
Lemma cubes_placed l r : cubes (placed C l r) = (signal C + cubes r)%Z.
Proof.
  unfold placed, signal. revert l. induction r as [|y r IH]; intros l.
  - rewrite firstn_nil, skipn_nil. unfold cubes. cbn [app fold_right]. rewrite sum_ones. ring.
  - destruct l as [|l]; unfold cubes in *; cbn [firstn skipn app fold_right] in *; [now rewrite sum_ones|].
    rewrite IH. ring.
Qed.
Lemma tot_without h l a : (l < length a)%nat -> tot h (without l a) = tot h a - h (nth l a []).
Proof.
  revert l. induction a as [|x a IH]; intros l H; cbn in H; [lia|]. destruct l as [|l].
  - unfold without, tot. cbn [firstn skipn app fold_right nth]. ring.
  - generalize (IH l ltac:(lia)). unfold without, tot. rewrite !skipn_cons. cbn [firstn app fold_right nth].
    intros E. rewrite E. ring.
Qed.
Lemma length_without l a : (l < length a)%nat -> length (without l a) = (length a - 1)%nat.
Proof. intros H. unfold without. rewrite app_length, firstn_length, skipn_length. lia. Qed.
Lemma shaped_without l a : shaped C a -> shaped C (without l a).
Proof.
  intros H. unfold without, shaped in *. rewrite Forall_forall in *. intros x Hx. apply H.
  apply in_app_or in Hx. destruct Hx as [X | X].
  - rewrite <- (firstn_skipn l a). apply in_or_app. now left.
  - rewrite <- (firstn_skipn (S l) a). apply in_or_app. now right.
Qed.
Lemma below_tot h a : below (length a) (fun l => h (nth l a [])) = tot h a.
Proof.
  assert (X : forall b, below (length a + length b) (fun l => h (nth l (b ++ a) [])) = below (length b) (fun l => h (nth l b [])) + tot h a).
  2: { generalize (X []). cbn. rewrite Nat.add_0_r, Rplus_0_l. exact (fun e => e). }
  induction a as [|x a IH]; intros b.
  - cbn [length Nat.add tot fold_right]. rewrite app_nil_r. ring.
  - generalize (IH (b ++ [x])). rewrite app_length. cbn [length]. rewrite <- app_assoc. cbn [app].
    replace (length a + (length b + 1))%nat with (S (length a) + length b)%nat by lia. intros ->.
    rewrite Nat.add_1_r. cbn [below]. change (tot h (x :: a)) with (h x + tot h a).
    rewrite app_nth2, Nat.sub_diag by lia. cbn [nth].
    rewrite (below_ext (length b) (fun l => h (nth l (b ++ [x]) [])) (fun l => h (nth l b []))); [ring|].
    intros j J. now rewrite app_nth1.
Qed.

(** The polynomial of one set, summed over the sets. *)
Lemma below_polynomial c0 c1 c2 c3 c4 c5 c6 a : below (length a) (fun l => let x := nth l a [] in
    c0 + c1 * power 1 x ^ 1 + c2 * power 1 x ^ 2 + c3 * power 1 x ^ 3 + c4 * power 2 x + c5 * (power 1 x * power 2 x) + c6 * power 3 x)
  = INR (length a) * c0 + c1 * M 1 a + c2 * M 2 a + c3 * M 3 a + c4 * Q2 a + c5 * QM a + c6 * P3 a.
Proof.
  unfold M, Q2, QM, P3. rewrite <- !below_tot. cbv zeta. rewrite !below_plus, !below_times, below_const. ring.
Qed.

Variable v : R.
Notation E := (fun pis => mean pis (slope v) (signal C)).
Lemma signal_at l a : shaped C a -> length a = L -> (l < L)%nat -> M 1 a = 1 ->
  sets q C (L - 1) (fun r => slope v (cubes (placed C l r)) * heardl a (placed C l r) ^ 3) =
  let x := nth l a [] in let m := power 1 x in let p := power 2 x in
  let b1 := 1 - m in let b2 := M 2 a - m ^ 2 in let b3 := M 3 a - m ^ 3 in let bq := Q2 a - p in
  let bm := QM a - m * p in let bp := P3 a - power 3 x in
  m ^ 3 * E (free (L - 1)) + 3 * m ^ 2 * (b1 * E (i :: free (L - 2)))
  + 3 * m * (bq * E (ii :: free (L - 2)) + (b2 - bq) * E (ij :: free (L - 2)) + (b1 ^ 2 - b2) * E (i :: i :: free (L - 3)))
  + (bp * E (i :: free (L - 2)) + 3 * (bm - bp) * E (iij :: free (L - 2)) + (b3 - 3 * bm + 2 * bp) * E (ijk :: free (L - 2))
    + 3 * (b1 * bq - bm) * E (ii :: i :: free (L - 3)) + 3 * (b1 * b2 - b3 - (b1 * bq - bm)) * E (ij :: i :: free (L - 3))
    + (b1 ^ 3 - 3 * b1 * b2 + 2 * b3) * E (i :: i :: i :: free (L - 4))).
Proof.
  intros Ha La Hl one. cbv zeta. set (x := nth l a []). set (b := without l a).
  assert (Hb : shaped C b) by now apply shaped_without.
  assert (Lb : length b = (L - 1)%nat) by (unfold b; rewrite length_without; lia).
  assert (lt : (l < length a)%nat) by lia.
  assert (B1 : M 1 b = 1 - power 1 x) by (unfold M, b; rewrite tot_without by exact lt; fold (M 1 a); rewrite one; fold x; ring).
  assert (B2 : M 2 b = M 2 a - power 1 x ^ 2) by (unfold M, b; now rewrite tot_without).
  assert (B3 : M 3 b = M 3 a - power 1 x ^ 3) by (unfold M, b; now rewrite tot_without).
  assert (BQ : Q2 b = Q2 a - power 2 x) by (unfold Q2, b; now rewrite tot_without).
  assert (BM : QM b = QM a - power 1 x * power 2 x) by (unfold QM, b; now rewrite tot_without).
  assert (BP : P3 b = P3 a - power 3 x) by (unfold P3, b; now rewrite tot_without).
  assert (X0 := many0 q C (L - 1) (slope v) (signal C)).
  assert (X1 := many1 q C C_size b (slope v) (signal C) Hb). assert (X2 := many2 q C C_size b (slope v) (signal C) Hb).
  assert (X3 := many3 q C C_size b (slope v) (signal C) Hb). rewrite Lb in X1, X2, X3.
  replace (L - 1 - 1)%nat with (L - 2)%nat in * by lia. replace (L - 1 - 2)%nat with (L - 3)%nat in * by lia.
  replace (L - 1 - 3)%nat with (L - 4)%nat in * by lia.
  set (m := power 1 x) in *.
  transitivity (m ^ 3 * sets q C (L - 1) (fun r => slope v (signal C + cubes r))
    + (3 * m ^ 2) * sets q C (L - 1) (fun r => heardl b r * slope v (signal C + cubes r))
    + (3 * m) * sets q C (L - 1) (fun r => heardl b r ^ 2 * slope v (signal C + cubes r))
    + sets q C (L - 1) (fun r => heardl b r ^ 3 * slope v (signal C + cubes r))).
  - rewrite <- !sets_mul, <- !sets_add.
    apply Rle_antisym; apply sets_le; try exact q_range; intros r [_ Hr]; rewrite cubes_placed, heardl_placed by (try exact Ha; lia);
      fold x m b; right; ring.
  - rewrite X0, X1, X2, X3, B1, B2, B3, BQ, BM, BP. ring.
Qed.

Lemma form_in_six a : shaped C a -> length a = L -> M 1 a = 1 ->
  below L (fun l => sets q C (L - 1) (fun r => slope v (cubes (placed C l r)) * heardl a (placed C l r) ^ 3)) / INR L =
  six (t1 q C L v) (t2 q C L v) (t3 q C L v) (t4 q C L v) (t5 q C L v) (td q C L v) a.
Proof.
  intros Ha La one.
  assert (nz : INR L <> 0) by (apply not_0_INR; lia).
  unfold six, t1, t2, t3, t4, t5, td, N.
  set (e0 := E (free (L - 1))). set (e1 := E (i :: free (L - 2))). set (e2 := E (ii :: free (L - 2))).
  set (e11 := E (ij :: free (L - 2))). set (e21 := E (iij :: free (L - 2))). set (e111 := E (ijk :: free (L - 2))).
  set (f2 := E (ii :: i :: free (L - 3))). set (f11 := E (ij :: i :: free (L - 3))). set (f1 := E (i :: i :: free (L - 3))).
  set (g := E (i :: i :: i :: free (L - 4))).
  set (A := M 2 a). set (B := M 3 a). set (Q := Q2 a). set (K := QM a). set (P := P3 a).
  pose (c0 := P * e1 + 3 * (K - P) * e21 + (B - 3 * K + 2 * P) * e111 + 3 * (Q - K) * f2 + 3 * (A - B - (Q - K)) * f11 + (1 - 3 * A + 2 * B) * g).
  pose (c1 := 3 * (Q * e2 + (A - Q) * e11 + (1 - A) * f1) + 3 * (- Q) * f2 + 3 * (- A + Q) * f11 + (- 3 + 3 * A) * g).
  assert (H : below L (fun l => sets q C (L - 1) (fun r => slope v (cubes (placed C l r)) * heardl a (placed C l r) ^ 3)) =
    below (length a) (fun l => let x := nth l a [] in
      c0 + c1 * power 1 x ^ 1 + (3 * e1 - 6 * f1 - 3 * f11 + 6 * g) * power 1 x ^ 2
      + (e0 - 3 * e1 - 3 * e11 + 6 * f1 - e111 + 6 * f11 - 6 * g) * power 1 x ^ 3
      + (- 3 * f2 + 3 * f11) * power 2 x
      + (- 3 * e2 + 3 * e11 - 3 * e21 + 3 * e111 + 6 * f2 - 6 * f11) * (power 1 x * power 2 x)
      + (- e1 + 3 * e21 - 2 * e111) * power 3 x)).
  { rewrite La. apply below_ext. intros l Hl. rewrite (signal_at l a Ha La Hl one). cbv zeta.
    fold e0 e1 e2 e11 e21 e111 f2 f11 f1 g A B Q K P. unfold c0, c1.
    set (m := power 1 (nth l a [])). set (p := power 2 (nth l a [])). set (r := power 3 (nth l a [])).
    ring. }
  rewrite H, below_polynomial, La, one. fold A B Q K P. unfold c0, c1. field. exact nz.
Qed.
End Six.
