package dev.warmpath.eventingest.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.StorageTier;
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
    "NVME, DISK",
    "REMOTE, REMOTE",
    "EXTERNAL, REMOTE",
    "NETWORK, REMOTE",
    "SHARED, REMOTE"
  })
  void everyKnownMediumHasItsTier(String medium, StorageTier tier) {
    assertThat(new BlockPlace(medium, 0, null).tier()).isEqualTo(tier);
    assertThat(new BlockPlace(medium, 0, "LOCAL").tier()).isEqualTo(tier);
  }

  @Test
  void anUnknownMediumHasNone() {
    assertThat(new BlockPlace("HOLOGRAM", 0, null).tier()).isNull();
  }

  @Test
  void whatIsNotLocalIsRemote() {
    assertThat(new BlockPlace("GPU", 0, "REMOTE").tier()).isEqualTo(StorageTier.REMOTE);
  }
}
