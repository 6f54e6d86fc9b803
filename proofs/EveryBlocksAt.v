(* Written by patch_lab.certify.witnesses. *)
(** In the book: ours-certified-blocks. *)
From Coq Require Import Reals ZArith List Lia.
From Book Require Import Ball Best BlocksSizes.

Import ListNotations.

Definition witnesses : list Z := [7698;8350;8877;9330;9732;10096;10429;10736;11021;11286;11533;11762;11976;12175;12361;12534;12695;12845;12985;13115;13237;13351;13458;13558;13652;13740;13823;13901;13975;14045;14111;14173;14232;14289;14342;14393;14441;14487;14531;14573;14613;14652;14689;14724;14758;14791;14822;14852;14881;14909;14936;14962;14987;15011;15034;15057;15079;15100;15120;15140;15159;15178;15196;15214;15231;15247;15263;15279;15294;15309;15323;15337;15351;15364;15377;15390;15402;15414;15426;15437;15448;15459;15470;15480;15491;15501;15510;15520;15529;15538;15547;15556;15565;15573;15581;15589;15597;15605;15612;15620;15627;15634;15641;15648;15655;15662;15668;15675;15681;15687;15693;15699]%Z.
Theorem blocks_every_size : forall L, (3 <= L)%nat -> Best (3 / 10) 2 L.
Proof.
  intros L H. destruct (Nat.lt_ge_cases L 116) as [few | many].
  - destruct (Nat.eq_dec L 3) as [-> | more].
    + apply (best_right 3 10 eq_refl 2 3 (bits 48) ltac:(repeat constructor) ltac:(repeat constructor) 1894270516 1894270521 2147483648); vm_cast_no_check (eq_refl true).
    + replace L with (4 + (L - 4))%nat by lia.
      apply (all_from_four_right witnesses); [vm_cast_no_check (eq_refl true) |].
      assert (E : length witnesses = 112%nat) by reflexivity. lia.
  - now apply optimal_from_moments.
Qed.
Example blocks_every_size_instance : Best (3 / 10) 2 1000.
Proof. apply (blocks_every_size 1000). lia. Qed.
