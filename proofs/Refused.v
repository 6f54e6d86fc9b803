(** What must not come through, and how. *)
From Coq Require Import Reals ZArith Lra.
From Book Require Import Ball Vote Window Blocks.
Open Scope R_scope.

(** * Three false claims: for each the checker answers no, so that no theorem is made of it. *)

(** Companions win at q = 4 / 5, companions lose at q = 3 / 10, blocks are optimal at (D, C, q) = (12, 4, 4 / 5). *)
Example false_win : wins 4 5 (bits 64) 1 (16 - 4) 4 255 4096 = false.
Proof. vm_compute. reflexivity. Qed.
Example false_loss : loses 3 10 (bits 64) 1 (16 - 4) 4 13 16 = false.
Proof. vm_compute. reflexivity. Qed.
Example false_blocks : optimal 4 5 4 3 (bits 64) 0 1 1 = false.
Proof. vm_compute. reflexivity. Qed.
Fail Definition made : Companions_win 1 (4 / 5) (16 - 4) 4 :=
  wins_right 4 5 eq_refl (bits 64) 1 (16 - 4) 4 255 4096 (eq_refl true).

(** The first two are not only refused but refuted. *)
Lemma not_both k q n C : Companions_win k q n C -> Companions_lose k q n C -> False.
Proof. intros W [v [F L]]. generalize (W v (Rlt_le _ _ F)), (L v (Rle_refl v)). lra. Qed.

(** * Witnesses that show nothing: u on the wrong side of its zero, too few bits, v between no two numbers. *)
Example wrong_side : wins 3 10 (bits 64) 1 (16 - 4) 4 1 1000 = false.
Proof. vm_compute. reflexivity. Qed.
Example few_bits : wins 3 10 (bits 3) 1 (16 - 4) 4 13 16 = false.
Proof. vm_compute. reflexivity. Qed.
Example not_between : optimal 3 10 4 4 (bits 64) 1641228021 1641228022 8589934592 = false.
Proof. vm_compute. reflexivity. Qed.
Example gap : pieces (bits 53) true 1 (16 - 4) 4 10 3 4 16 (cons (3, 13)%Z nil) = false.
Proof. vm_compute. reflexivity. Qed.

(** * A theorem without content: the kernel accepts it, with a clean list of axioms, since nothing satisfies
      what it assumes. It has no instance, and [make proofs] says so. *)
Theorem empty q : q < 0 -> 0 < q -> Companions_win 1 (4 / 5) (16 - 4) 4.
Proof. intros. exfalso. lra. Qed.
