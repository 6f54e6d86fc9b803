(** Sums of exponentials, enclosed: a small layer over the interval functions of coq-interval.
    [x \in X] says that the interval X contains the real number x. Its floats are pairs of integers of Coq
    itself, so that no arithmetic of the processor is trusted; [Specific_stdz] and [StdZRadix2] in their
    places are ten times as fast and trust its integers. *)
From Coq Require Import Reals ZArith List Lra.
From Flocq Require Import Core.
From Interval Require Import Xreal Interval Specific_stdz Specific_ops Float_full.
Module F := SpecificFloat StdZRadix2.
Module I := FloatIntervalFull F.
Open Scope R_scope.

Definition bits (p : positive) : F.precision := F.PtoP p.
Definition holds (X : I.type) (x : R) : Prop := contains (I.convert X) (Xreal x).
Notation "x \in X" := (holds X x) (at level 70).

Section Precision.
Variable prec : F.precision.

Definition ofZ (z : Z) : I.type := I.fromZ prec z.
Definition ofQ (a b : Z) : I.type := I.div prec (ofZ a) (ofZ b).
Definition logistic (x : I.type) : I.type := I.inv prec (I.add prec (ofZ 1) (I.exp prec x)).

Lemma in_Z z : IZR z \in ofZ z.
Proof. apply I.fromZ_correct. Qed.
Lemma in_add x y X Y : x \in X -> y \in Y -> (x + y) \in I.add prec X Y.
Proof. exact (I.add_correct prec X Y (Xreal x) (Xreal y)). Qed.
Lemma in_sub x y X Y : x \in X -> y \in Y -> (x - y) \in I.sub prec X Y.
Proof. exact (I.sub_correct prec X Y (Xreal x) (Xreal y)). Qed.
Lemma in_mul x y X Y : x \in X -> y \in Y -> (x * y) \in I.mul prec X Y.
Proof. exact (I.mul_correct prec X Y (Xreal x) (Xreal y)). Qed.
Lemma in_exp x X : x \in X -> exp x \in I.exp prec X.
Proof. exact (I.exp_correct prec X (Xreal x)). Qed.
Lemma in_inv x X : x <> 0 -> x \in X -> / x \in I.inv prec X.
Proof.
  intros nz H. generalize (I.inv_correct prec X (Xreal x) H). unfold Xinv, Xbind, Xinv', holds.
  now rewrite is_zero_false.
Qed.
Lemma in_div x y X Y : y <> 0 -> x \in X -> y \in Y -> (x / y) \in I.div prec X Y.
Proof.
  intros nz H K. generalize (I.div_correct prec X Y (Xreal x) (Xreal y) H K). unfold Xdiv, Xbind2, Xdiv', holds.
  now rewrite is_zero_false.
Qed.
Lemma in_Q a b : b <> 0%Z -> (IZR a / IZR b) \in ofQ a b.
Proof. intros nz. apply in_div; [now apply not_0_IZR | apply in_Z | apply in_Z]. Qed.
Lemma in_logistic x X : x \in X -> / (1 + exp x) \in logistic X.
Proof.
  intros H. apply in_inv; [generalize (exp_pos x); lra|].
  apply in_add; [apply in_Z | now apply in_exp].
Qed.

Definition positive (X : I.type) : bool := match I.sign_strict X with Xgt => true | _ => false end.
Definition negative (X : I.type) : bool := match I.sign_strict X with Xlt => true | _ => false end.
Lemma is_positive x X : x \in X -> positive X = true -> 0 < x.
Proof.
  unfold positive. intros H. generalize (I.sign_strict_correct X).
  destruct (I.sign_strict X); try discriminate. intros K _. now destruct (K _ H).
Qed.
Lemma is_negative x X : x \in X -> negative X = true -> x < 0.
Proof.
  unfold negative. intros H. generalize (I.sign_strict_correct X).
  destruct (I.sign_strict X); try discriminate. intros K _. now destruct (K _ H).
Qed.
End Precision.
