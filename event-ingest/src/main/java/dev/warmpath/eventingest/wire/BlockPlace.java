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
   * The storage tier, or null if the blocks are credited to nobody: storage that several replicas
   * share, a medium that is not known here, and secondary offload tiers. Those tell of stores
   * alone, so nobody hears when they end.
   */
  public @Nullable StorageTier tier() {
    if (ownership != null || isRemote()) {
      return null;
    }
    return switch (medium.toUpperCase(Locale.ROOT)) {
      case "GPU", "DEVICE" -> StorageTier.GPU;
      case "CPU", "CPU_PINNED", "CPU_TIER1" -> StorageTier.CPU;
      case "STORAGE", "DISK", "NVME", "FS", "OBJ", "CPU_TIER2" -> StorageTier.DISK;
      default -> null;
    };
  }

  /** Whether several replicas share the storage. */
  public boolean isRemote() {
    return "REMOTE".equalsIgnoreCase(locality)
        || switch (medium.toUpperCase(Locale.ROOT)) {
          case "REMOTE", "EXTERNAL", "NETWORK", "SHARED" -> true;
          default -> false;
        };
  }
}
