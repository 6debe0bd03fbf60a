package dev.warmpath.eventingest.wire;

import dev.warmpath.kvindex.StorageTier;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Where an event's blocks live.
 *
 * @param medium as the engine said it; {@value #DEFAULT_MEDIUM} when it said nothing
 * @param groupIdx the KV-cache group, at least 0; 0 when the engine named none
 * @param locality "LOCAL", "REMOTE" or null
 * @param ownership the secondary offload tier that speaks here, or null: the engine itself does
 */
public record BlockPlace(
    String medium, int groupIdx, @Nullable String locality, @Nullable String ownership) {

  /** What an engine means that names no medium. */
  public static final String DEFAULT_MEDIUM = "GPU";

  /** Group 0 of the GPU. */
  public static final BlockPlace GPU = new BlockPlace(DEFAULT_MEDIUM, 0, null);

  public BlockPlace {
    if (groupIdx < 0) {
      throw new IllegalArgumentException("groupIdx=" + groupIdx);
    }
  }

  /** Where the engine itself says that its blocks live. */
  public BlockPlace(String medium, int groupIdx, @Nullable String locality) {
    this(medium, groupIdx, locality, null);
  }

  /**
   * The storage tier, or null for a medium that is not known here: such blocks must not be
   * credited. What a secondary offload tier says is of REMOTE storage: it tells of stores alone, so
   * nobody hears when they end.
   */
  public @Nullable StorageTier tier() {
    if (ownership != null || "REMOTE".equalsIgnoreCase(locality)) {
      return StorageTier.REMOTE;
    }
    return switch (medium.toUpperCase(Locale.ROOT)) {
      case "GPU", "DEVICE" -> StorageTier.GPU;
      case "CPU", "CPU_PINNED", "CPU_TIER1" -> StorageTier.CPU;
      case "STORAGE", "DISK", "NVME", "FS", "OBJ", "CPU_TIER2" -> StorageTier.DISK;
      case "REMOTE", "EXTERNAL", "NETWORK", "SHARED" -> StorageTier.REMOTE;
      default -> null;
    };
  }
}
