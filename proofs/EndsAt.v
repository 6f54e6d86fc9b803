(* Written by patch_lab.certify.witnesses. *)
(** In the book: ours-certified-end-point. *)
From Coq Require Import Reals ZArith List Lra.
From Book Require Import Ball Ends.
From Coquelicot Require Import Coquelicot.
Import ListNotations.
Open Scope R_scope.

Definition falling : list Z := [74800294864; 98175387009; 99599508758]%Z.
Theorem ends_D16_C4_q3_10 : Ends (3 / 10) 4 4 (1 / 10000) 1 (90707 / 1000000) (90708 / 1000000) (38692 / 10000000) (38693 / 10000000).
Proof. apply (ends_right 3 10 1 10000 1 4 4 (bits 53) eq_refl eq_refl ltac:(repeat constructor) ltac:(repeat constructor)
  1099511627776 falling 99733726484 99733726489 99867944214 90707 90708 1000000 38692 38693 10000000); vm_cast_no_check (eq_refl true). Qed.
(** There are runs of rho that come to this point, and this is how. *)
Example ends_D16_C4_q3_10_instance : exists alpha k rh,
  90707 / 1000000 < alpha < 90708 / 1000000 /\ 38692 / 10000000 < k < 38693 / 10000000 /\
  descends (3 / 10) 4 4 (1 / 10000) 1 1 (fun _ => alpha) (fun _ => 1) rh /\
  is_lim_seq (fun t => rh t + ln (INR t)) (ln (INR (4 * 4) * (INR (4 * 4) - INR 4) / (1 * k))).
Proof. apply run_met; [repeat constructor | repeat constructor | lra | exact ends_D16_C4_q3_10]. Qed.
