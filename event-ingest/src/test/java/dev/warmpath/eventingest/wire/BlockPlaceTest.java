package dev.warmpath.eventingest.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.StorageTier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BlockPlaceTest {

  @ParameterizedTest
  @CsvSource({
    "GPU, GPU",
    "gpu, GPU",
    "DEVICE, GPU",
    "CPU, CPU",
    "cpu, CPU",
    "CPU_PINNED, CPU",
    "CPU_TIER1, CPU",
    "CPU_TIER2, DISK",
    "STORAGE, DISK",
    "FS, DISK",
    "OBJ, DISK",
    "DISK, DISK",
    "NVME, DISK"
  })
  void everyKnownMediumHasItsTier(String medium, StorageTier tier) {
    assertThat(new BlockPlace(medium, 0, null).tier()).isEqualTo(tier);
    assertThat(new BlockPlace(medium, 0, "LOCAL").tier()).isEqualTo(tier);
  }

  @Test
  void anUnknownMediumHasNone() {
    BlockPlace unknown = new BlockPlace("HOLOGRAM", 0, null);
    assertThat(unknown.tier()).isNull();
    assertThat(unknown.isRemote()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"GPU, REMOTE", "REMOTE,", "external, LOCAL", "NETWORK,", "SHARED,"})
  void remoteStorageHasNone(String medium, @Nullable String locality) {
    BlockPlace remote = new BlockPlace(medium, 0, locality);
    assertThat(remote.tier()).isNull();
    assertThat(remote.isRemote()).isTrue();
  }
}
