package dev.warmpath.router.tokenize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.tokenizer.files.TokenizerLoadException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HubCacheTest {

  private static final String COMMIT = "0123456789abcdef0123456789abcdef01234567";

  @TempDir private Path cache;

  @Test
  void aRevisionLeadsToItsSnapshot() throws Exception {
    Path model = cache.resolve("models--Qwen--Qwen3-8B");
    Path snapshot = Files.createDirectories(model.resolve("snapshots").resolve(COMMIT));
    Files.createDirectories(model.resolve("refs"));
    Files.writeString(model.resolve("refs/main"), COMMIT + "\n");
    Files.writeString(model.resolve("refs/v1.0"), COMMIT);
    Files.writeString(model.resolve("refs/bad"), "../../elsewhere");
    HubCache hub = HubCache.of(Map.of("HF_HUB_CACHE", cache.toString()), "/nowhere");
    assertThat(hub.find("hf://Qwen/Qwen3-8B")).isEqualTo(snapshot);
    assertThat(hub.find("hf://Qwen/Qwen3-8B@v1.0")).isEqualTo(snapshot);
    assertThat(hub.find("hf://Qwen/Qwen3-8B@" + COMMIT)).isEqualTo(snapshot);
    assertThatThrownBy(() -> hub.find("hf://Qwen/Qwen3-8B@bad")).hasMessageContaining("no commit");
    assertThatThrownBy(() -> hub.find("hf://Qwen/Qwen3-8B@v2"))
        .hasMessageContaining("hf download Qwen/Qwen3-8B --revision v2");
  }

  @Test
  void theEnvironmentSaysWhereTheCacheIs() throws Exception {
    Path snapshots = Path.of("models--a--b", "snapshots", COMMIT);
    Path home = Files.createDirectories(cache.resolve(".cache/huggingface/hub").resolve(snapshots));
    Path hub = Files.createDirectories(cache.resolve("other/hub").resolve(snapshots));
    String place = "hf://a/b@" + COMMIT;
    assertThat(HubCache.of(Map.of(), cache.toString()).find(place)).isEqualTo(home);
    Map<String, String> elsewhere = Map.of("HF_HOME", cache.resolve("other").toString());
    assertThat(HubCache.of(elsewhere, cache.toString()).find(place)).isEqualTo(hub);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "hf://",
        "hf://a",
        "hf://a/../b",
        "hf://../b",
        "hf://a/b@../c",
        "hf://a/b/c",
        "hf://a/.."
      })
  void nothingElseIsAPlace(String place) {
    assertThatThrownBy(() -> new HubCache(cache).find(place))
        .isInstanceOf(TokenizerLoadException.class)
        .hasMessageContaining("must be hf://");
  }
}
