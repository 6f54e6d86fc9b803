(** A trap, for any gradient field: what boxes have to show for "for ever". *)
(** In the book: a trap. *)
From Coq Require Import Reals Lra.
Open Scope R_scope.

Record state := State { alpha : R; gamma : R; rho : R }.

Section Trap.
(** The three derivatives of the risk, of which nothing is assumed; the region; the rates of alpha, gamma, rho. *)
Variables La Lg Lr : state -> R.
Variables a b g0 r0 : R.

(** One step of gradient descent; for D patches in sets of C, c = eta_A / (D (C-1)), d = eta_A / (D (D-C)). *)
Definition step (eta c d : R) (x : state) : state :=
  State (alpha x - eta * La x) (gamma x - c * Lg x) (rho x - d * Lr x).
Fixpoint run eta c d (t : nat) (x : state) : state :=
  match t with O => x | S t => step eta c d (run eta c d t x) end.

Definition inside (x : state) : Prop := a <= alpha x <= b /\ g0 <= gamma x /\ rho x <= r0.

Theorem trap (eta c d : R) :
  (forall x, inside x -> 0 < Lr x) ->
  (forall x, inside x -> c * Lg x <= 1 - exp (g0 - gamma x)) ->
  (forall x, inside x -> a <= alpha x - eta * La x <= b) ->
  r0 < g0 ->
  forall eta' c' d' x, 0 < eta' <= eta -> 0 < c' <= c -> 0 < d' -> inside x ->
  forall t, let now := run eta' c' d' t x in
  inside now /\ rho now < gamma now /\ rho (step eta' c' d' now) < rho now.
Proof.
  intros H1 H2 H3 gap eta' c' d' x E C' Dd I t.
  assert (J : inside (run eta' c' d' t x)).
  { induction t as [|t IH]; [exact I|]. simpl. set (y := run eta' c' d' t x) in *.
    generalize (H1 y IH), (H2 y IH), (H3 y IH), (exp_ineq1_le (g0 - gamma y)).
    destruct IH as [[A B] [G Rr]]. intros P Q [S T] X. repeat split; simpl; nra. }
  simpl. generalize (H1 _ J). destruct J as [[A B] [G Rr]]. intros P. repeat split; auto; simpl; nra.
Qed.
End Trap.

(** An instance: alpha is pulled to 1, gamma falls towards 1, and rho falls. *)
Example trap_instance : forall t, let eta := 1 / 2 in
  let pull x := alpha x - 1 in let sink x := 1 - exp (1 - gamma x) in let fall (_ : state) := 1 in
  let now := run pull sink fall eta eta eta t (State 1 2 0) in
  inside 0 2 1 0 now /\ rho now < gamma now /\ rho (step pull sink fall eta eta eta now) < rho now.
Proof.
  apply (trap _ _ _ 0 2 1 0 (1 / 2) (1 / 2) (1 / 2)); unfold inside; simpl; try (intros; lra).
  intros x [_ [G _]]. assert (exp (1 - gamma x) <= 1); [|lra].
  destruct (Req_dec (1 - gamma x) 0) as [-> | n]; [rewrite exp_0; lra|].
  generalize (exp_increasing (1 - gamma x) 0). rewrite exp_0. lra.
Qed.
