(* Written by patch_lab.certify.witnesses. *)
(** In the book: ours-certified-window. *)
From Coq Require Import Reals ZArith.
From Book Require Import Ball Vote.

Theorem win_D16_C4_q3_10_p3 : Companions_win 1 (3 / 10) (16 - 4) 4.
Proof. apply (wins_right 3 10 eq_refl (bits 48) 1 (16 - 4) 4 13 16); vm_cast_no_check (eq_refl true). Qed.
Theorem lose_D16_C4_q4_5_p3 : Companions_lose 1 (4 / 5) (16 - 4) 4.
Proof. apply (loses_right 4 5 eq_refl (bits 48) 1 (16 - 4) 4 255 4096); vm_cast_no_check (eq_refl true). Qed.
Theorem lose_D16_C4_q1_20_p3 : Companions_lose 1 (1 / 20) (16 - 4) 4.
Proof. apply (loses_right 1 20 eq_refl (bits 48) 1 (16 - 4) 4 735 128); vm_cast_no_check (eq_refl true). Qed.
Theorem win_D16_C4_q1_2_p3 : Companions_win 1 (1 / 2) (16 - 4) 4.
Proof. apply (wins_right 1 2 eq_refl (bits 48) 1 (16 - 4) 4 61 256); vm_cast_no_check (eq_refl true). Qed.
Theorem win_D16_C4_q7_10_p3 : Companions_win 1 (7 / 10) (16 - 4) 4.
Proof. apply (wins_right 7 10 eq_refl (bits 48) 1 (16 - 4) 4 375 4096); vm_cast_no_check (eq_refl true). Qed.
Theorem lose_D16_C4_q3_4_p3 : Companions_lose 1 (3 / 4) (16 - 4) 4.
Proof. apply (loses_right 3 4 eq_refl (bits 48) 1 (16 - 4) 4 1235 16384); vm_cast_no_check (eq_refl true). Qed.
Theorem win_D12_C4_q3_10_p3 : Companions_win 1 (3 / 10) (12 - 4) 4.
Proof. apply (wins_right 3 10 eq_refl (bits 48) 1 (12 - 4) 4 163 64); vm_cast_no_check (eq_refl true). Qed.
Theorem win_D24_C4_q3_10_p3 : Companions_win 1 (3 / 10) (24 - 4) 4.
Proof. apply (wins_right 3 10 eq_refl (bits 48) 1 (24 - 4) 4 15 64); vm_cast_no_check (eq_refl true). Qed.
Theorem win_D32_C4_q3_10_p3 : Companions_win 1 (3 / 10) (32 - 4) 4.
Proof. apply (wins_right 3 10 eq_refl (bits 48) 1 (32 - 4) 4 13 128); vm_cast_no_check (eq_refl true). Qed.
Theorem win_D64_C4_q3_10_p3 : Companions_win 1 (3 / 10) (64 - 4) 4.
Proof. apply (wins_right 3 10 eq_refl (bits 48) 1 (64 - 4) 4 7 512); vm_cast_no_check (eq_refl true). Qed.
Theorem win_D128_C4_q3_10_p3 : Companions_win 1 (3 / 10) (128 - 4) 4.
Proof. apply (wins_right 3 10 eq_refl (bits 48) 1 (128 - 4) 4 5 2048); vm_cast_no_check (eq_refl true). Qed.
Theorem lose_D12_C4_q1_10_p3 : Companions_lose 1 (1 / 10) (12 - 4) 4.
Proof. apply (loses_right 1 10 eq_refl (bits 48) 1 (12 - 4) 4 11 2); vm_cast_no_check (eq_refl true). Qed.
Theorem win_D12_C3_q3_10_p3 : Companions_win 1 (3 / 10) (12 - 3) 3.
Proof. apply (wins_right 3 10 eq_refl (bits 48) 1 (12 - 3) 3 15 16); vm_cast_no_check (eq_refl true). Qed.
Theorem lose_D64_C4_q69_100_p3 : Companions_lose 1 (69 / 100) (64 - 4) 4.
Proof. apply (loses_right 69 100 eq_refl (bits 48) 1 (64 - 4) 4 1803 1048576); vm_cast_no_check (eq_refl true). Qed.
Theorem win_D16_C4_q3_10_p5 : Companions_win 2 (3 / 10) (16 - 4) 4.
Proof. apply (wins_right 3 10 eq_refl (bits 48) 2 (16 - 4) 4 61 512); vm_cast_no_check (eq_refl true). Qed.
Theorem win_D32_C8_q3_10_p5 : Companions_win 2 (3 / 10) (32 - 8) 8.
Proof. apply (wins_right 3 10 eq_refl (bits 48) 2 (32 - 8) 8 3 32); vm_cast_no_check (eq_refl true). Qed.
