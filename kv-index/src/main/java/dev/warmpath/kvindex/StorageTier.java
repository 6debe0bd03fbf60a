package dev.warmpath.kvindex;

/** Where a held block lives, fastest first. */
public enum StorageTier {
  GPU,
  CPU,
  DISK,
  /** Storage that several replicas share; never credited to the replica that announced it. */
  REMOTE
}
