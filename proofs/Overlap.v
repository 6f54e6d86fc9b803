(* Written by patch_lab.certify.witnesses. *)
From Coq Require Import Reals ZArith.
From Book Require Import Ball Blocks.

From Interval Require Import Float Basic.
Open Scope Z_scope.
Definition ends (X : I.type) := match X with Float.Ibnd l u => (F.toF l, F.toF u) | _ => (Fnan, Fnan) end.
Definition shown a b C L x z y :=
  let p := bits 48 in let t := table a b C L p (between p x z y) in
  let over X := ends (I.div p X (mean_ball a b C p (free (L - 1)) t)) in
  (over (T1 a b C L p t), over (T4 a b C L p t), over (T5 a b C L p t), over (Td a b C L p t)).

Eval vm_compute in shown 1 10 4 4 1187728598 1187728603 4294967296.
Eval vm_compute in shown 3 10 4 4 1641228021 1641228026 8589934592.
Eval vm_compute in shown 1 2 4 4 1224715668 1224715673 8589934592.
Eval vm_compute in shown 4 5 4 4 1526653997 1526654002 17179869184.
