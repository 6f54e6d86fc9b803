(* Written by patch_lab.certify.witnesses. *)
(** In the book: ours-certified-blocks. *)
From Coq Require Import Reals ZArith.
From Book Require Import Ball Best.

Theorem blocks_D16_C4_q1_10 : Best (1 / 10) 4 4.
Proof. apply (best_right 1 10 eq_refl 4 4 (bits 48) ltac:(repeat constructor) ltac:(repeat constructor) 1187728598 1187728603 4294967296); vm_cast_no_check (eq_refl true). Qed.
Theorem blocks_D16_C4_q3_10 : Best (3 / 10) 4 4.
Proof. apply (best_right 3 10 eq_refl 4 4 (bits 48) ltac:(repeat constructor) ltac:(repeat constructor) 1641228021 1641228026 8589934592); vm_cast_no_check (eq_refl true). Qed.
Theorem blocks_D16_C4_q1_2 : Best (1 / 2) 4 4.
Proof. apply (best_right 1 2 eq_refl 4 4 (bits 48) ltac:(repeat constructor) ltac:(repeat constructor) 1224715668 1224715673 8589934592); vm_cast_no_check (eq_refl true). Qed.
Theorem blocks_D16_C4_q4_5 : Best (4 / 5) 4 4.
Proof. apply (best_right 4 5 eq_refl 4 4 (bits 48) ltac:(repeat constructor) ltac:(repeat constructor) 1526653997 1526654002 17179869184); vm_cast_no_check (eq_refl true). Qed.
Theorem blocks_D24_C4_q3_10 : Best (3 / 10) 4 6.
Proof. apply (best_right 3 10 eq_refl 4 6 (bits 48) ltac:(repeat constructor) ltac:(repeat constructor) 1517992590 1517992595 8589934592); vm_cast_no_check (eq_refl true). Qed.
Theorem blocks_D24_C4_q4_5 : Best (4 / 5) 4 6.
Proof. apply (best_right 4 5 eq_refl 4 6 (bits 48) ltac:(repeat constructor) ltac:(repeat constructor) 1169374264 1169374269 17179869184); vm_cast_no_check (eq_refl true). Qed.
Theorem blocks_D15_C3_q1_2 : Best (1 / 2) 3 5.
Proof. apply (best_right 1 2 eq_refl 3 5 (bits 48) ltac:(repeat constructor) ltac:(repeat constructor) 1884127910 1884127915 8589934592); vm_cast_no_check (eq_refl true). Qed.
Theorem blocks_D8_C2_q3_10 : Best (3 / 10) 2 4.
Proof. apply (best_right 3 10 eq_refl 2 4 (bits 48) ltac:(repeat constructor) ltac:(repeat constructor) 1621994471 1621994476 2147483648); vm_cast_no_check (eq_refl true). Qed.
Theorem blocks_D16_C2_q3_10 : Best (3 / 10) 2 8.
Proof. apply (best_right 3 10 eq_refl 2 8 (bits 48) ltac:(repeat constructor) ltac:(repeat constructor) 1118587966 1118587971 2147483648); vm_cast_no_check (eq_refl true). Qed.
Theorem blocks_D12_C4_q3_10 : Best (3 / 10) 4 3.
Proof. apply (best_right 3 10 eq_refl 4 3 (bits 48) ltac:(repeat constructor) ltac:(repeat constructor) 1765555651 1765555656 8589934592); vm_cast_no_check (eq_refl true). Qed.
Theorem blocks_D9_C3_q3_10 : Best (3 / 10) 3 3.
Proof. apply (best_right 3 10 eq_refl 3 3 (bits 48) ltac:(repeat constructor) ltac:(repeat constructor) 1592770364 1592770369 4294967296); vm_cast_no_check (eq_refl true). Qed.
