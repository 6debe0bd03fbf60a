package dev.warmpath.kvindex;

/** Where a held block lives, fastest first. */
public enum StorageTier {
  GPU,
  CPU,
  DISK
}
