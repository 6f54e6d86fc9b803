(** What [Best] says of attention with rows, in the book's words: some alpha of block attention is at least as
    good as any other attention, with its diagonal and any alpha, and any noise. *)
(** In the book: ours-certified-blocks. *)
From Coq Require Import Reals ZArith List Lra Lia.
From Book Require Import Ball Vote Blocks Risk Form Still Best Ends.
Import ListNotations.
Open Scope R_scope.

Definition block_attention C L := map (even C) (seq 0 (L * C)).
Definition Best_in_words q C L := Forall (attention C L) (block_attention C L) /\ exists alpha, forall rows a noise, Forall (attention C L) rows -> symmetric C L noise -> (forall x, has noise (fun z => loss (yF C L rows a x z))) ->
  risk q C L (block_attention C L) alpha silent <= risk q C L rows a noise.

Lemma fold_rows n (f : (nat -> R) -> R) (rows : nat -> nat -> R) :
  fold_right (fun S sum => f S + sum) 0 (map rows (seq 0 n)) = below n (fun i => f (rows i)).
Proof.
  revert rows. induction n as [|n IH]; intros rows; [reflexivity|].
  rewrite below_first. cbn [seq map fold_right]. rewrite <- seq_shift, map_map, (IH (fun i => rows (S i))). reflexivity.
Qed.
Lemma cube_root t : exists s, s ^ 3 = t.
Proof.
  assert (pow3 : forall x, exp x ^ 3 = exp (3 * x)) by (intros x; replace (3 * x) with (x + x + x) by ring; rewrite !exp_plus; ring).
  destruct (Rtotal_order t 0) as [N | [N | N]].
  - exists (- exp (ln (- t) / 3)). replace ((- exp (ln (- t) / 3)) ^ 3) with (- exp (ln (- t) / 3) ^ 3) by ring.
    rewrite pow3. replace (3 * (ln (- t) / 3)) with (ln (- t)) by field. rewrite exp_ln; lra.
  - exists 0. subst. ring.
  - exists (exp (ln t / 3)). rewrite pow3. replace (3 * (ln t / 3)) with (ln t) by field. now apply exp_ln.
Qed.

Section Words.
Variables (q : R) (C L : nat).
Hypothesis q_range : 0 <= q <= 1.
Hypothesis C1 : (1 <= C)%nat.
Hypothesis L1 : (1 <= L)%nat.

Lemma even_attention i : (i < L * C)%nat -> attention C L (even C i).
Proof.
  intros Hi. assert (c0 : 0 < INR C) by (apply lt_0_INR; lia). split.
  - intros j. unfold even. destruct (same C i j); [left; now apply Rinv_0_lt_compat | lra].
  - rewrite (blocks C L). rewrite (below_ext L _ (fun s => (if (i / C =? s)%nat then 1 else 0) * 1)).
    + rewrite (pick_set C L C1 L1) by (apply Nat.div_lt_upper_bound; lia). ring.
    + intros s Hs. rewrite (below_ext C _ (fun _ => if (i / C =? s)%nat then / INR C else 0)).
      * rewrite below_const. destruct (i / C =? s)%nat; field; lra.
      * intros c Hc. unfold even, same. now rewrite (in_set C L).
Qed.
Lemma cubes_are x : kP (keys x) = cubes x.
Proof.
  induction x as [|l x IH]; [reflexivity|]. change (kP (keys (l :: x))) with (sum l ^ 3 + kP (keys x))%Z. now rewrite IH.
Qed.
Lemma block_risk alpha :
  risk q C L (block_attention C L) alpha silent = risk_of_blocks q C L (INR (L * C) ^ 3 * alpha ^ 3 / INR C ^ 2).
Proof.
  assert (c0 : INR C <> 0) by (apply not_0_INR; lia).
  unfold risk, risk_of_blocks. apply (input_ext q C L q_range L1). intros x Hx. cbn [mean_of silent]. f_equal.
  unfold yF, block_attention. rewrite (fold_rows (L * C) (fun S => (INR (L * C) * heard C L S (fun j => alpha * sign x j + 0)) ^ 3)).
  transitivity (yF_of C L 0 (even C) alpha x).
  - unfold yF_of. apply below_ext. intros i _. unfold act.
    replace (heard C L (even C i) (fun j => alpha * sign x j + 0)) with (heard C L (even C i) (fun j => alpha * sign x j)) by (unfold heard; apply below_ext; intros; ring).
    ring.
  - transitivity (INR C * INR L ^ 3 * alpha ^ 3 * IZR (cubes x)); [|rewrite mult_INR; field; exact c0].
    unfold yF_of. rewrite (below_ext _ _ (fun i => act 0 (INR L * alpha * set_sum x (i / C)))) by (intros i Hi; f_equal; now apply (hears_even C L)).
    rewrite (by_sets C L C1 L1 (fun n => act 0 (INR L * alpha * n))). unfold act.
    rewrite (below_ext L _ (fun s => (INR L * alpha) ^ 3 * set_sum x s ^ 3)) by (intros; ring).
    rewrite below_times, (sum_cubes L), cubes_are by apply Hx. ring.
Qed.
Theorem best_in_words : Best q C L -> Best_in_words q C L.
Proof.
  intros [[v Z] B]. split.
  { apply Forall_forall. intros S [i [<- I]]%in_map_iff. apply even_attention. now apply in_seq in I. }
  destruct (cube_root (v * INR C ^ 2 / INR (L * C) ^ 3)) as [alpha E].
  exists alpha. intros rows a noise A S I. rewrite block_risk, E.
  replace (INR (L * C) ^ 3 * (v * INR C ^ 2 / INR (L * C) ^ 3) / INR C ^ 2) with v; [now apply (B v Z)|].
  field. split; apply not_0_INR; nia.
Qed.
End Words.
(** It is met: at three sets of two. *)
Example best_in_words_instance : Best_in_words (3 / 10) 2 3.
Proof.
  apply best_in_words; [lra | lia | lia |].
  apply (best_right 3 10 eq_refl 2 3 (bits 48) ltac:(repeat constructor) ltac:(repeat constructor) 1894270516 1894270521 2147483648); vm_cast_no_check (eq_refl true).
Qed.
