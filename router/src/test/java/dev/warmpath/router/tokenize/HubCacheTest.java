package dev.warmpath.router.tokenize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.tokenize.HubFiles.HubSettings;
import dev.warmpath.tokenizer.files.TokenizerLoadException;
import java.io.IOException;
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
    Path snapshot = snapshot(cache, "models--Qwen--Qwen3-8B");
    Files.createDirectories(model.resolve("refs"));
    Files.writeString(model.resolve("refs/main"), COMMIT + "\n");
    Files.writeString(model.resolve("refs/v1.0"), COMMIT);
    Files.writeString(model.resolve("refs/bad"), "../../elsewhere");
    assertThat(find("hf://Qwen/Qwen3-8B")).isEqualTo(snapshot);
    assertThat(find("hf://Qwen/Qwen3-8B@v1.0")).isEqualTo(snapshot);
    assertThat(find("hf://Qwen/Qwen3-8B@" + COMMIT)).isEqualTo(snapshot);
    assertThat(find("hf://Qwen/Qwen3-8B@bad")).isNull();
    assertThat(find("hf://Qwen/Qwen3-8B@v2")).isNull();
    Files.delete(snapshot.resolve("tokenizer.json"));
    assertThat(find("hf://Qwen/Qwen3-8B")).isNull();
  }

  @Test
  void theEnvironmentSaysWhereTheCacheIs() {
    assertThat(settings().cache()).isEqualTo(Path.of("/home/me/.cache/huggingface/hub"));
    assertThat(settings("XDG_CACHE_HOME", "/x").cache()).isEqualTo(Path.of("/x/huggingface/hub"));
    assertThat(settings("HF_HOME", "/hf").cache()).isEqualTo(Path.of("/hf/hub"));
    assertThat(settings("HF_HOME", "/hf", "HF_HUB_CACHE", "/c").cache()).isEqualTo(Path.of("/c"));
    assertThat(settings("HF_HOME", " ").cache()).isEqualTo(settings().cache());
  }

  @Test
  void theEnvironmentSaysHowToDownload() {
    assertThat(settings().endpoint()).isEqualTo("https://huggingface.co");
    assertThat(settings("HF_ENDPOINT", "http://hub:1/").endpoint()).isEqualTo("http://hub:1");
    assertThat(settings().token()).isNull();
    assertThat(settings("HF_TOKEN", "hf_secret\n").token()).isEqualTo("hf_secret");
    assertThat(settings("HF_TOKEN", "hf_secret").toString()).doesNotContain("secret");
    assertThat(settings().offline()).isFalse();
    assertThat(settings("HF_HUB_OFFLINE", "0").offline()).isFalse();
    assertThat(settings("HF_HUB_OFFLINE", "1").offline()).isTrue();
    assertThat(settings("TRANSFORMERS_OFFLINE", "Yes").offline()).isTrue();
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
    assertThatThrownBy(() -> HubPlace.parse(place))
        .isInstanceOf(TokenizerLoadException.class)
        .hasMessageContaining(place + ": must be hf://");
  }

  private Path find(String place) {
    return new HubCache(cache, HubPlace.parse(place)).find();
  }

  private static HubSettings settings(String... namesAndValues) {
    Map<String, String> environment = new java.util.HashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      environment.put(namesAndValues[i], namesAndValues[i + 1]);
    }
    return HubSettings.of(environment, "/home/me");
  }

  private static Path snapshot(Path cache, String folder) throws IOException {
    Path snapshot = cache.resolve(folder).resolve("snapshots").resolve(COMMIT);
    Files.createDirectories(snapshot);
    Files.writeString(snapshot.resolve("tokenizer.json"), "{}");
    return snapshot;
  }
}
