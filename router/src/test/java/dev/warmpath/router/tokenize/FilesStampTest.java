package dev.warmpath.router.tokenize;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.tokenizer.chat.ChatOptions.Dialect;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FilesStampTest {

  @TempDir Path folder;

  @Test
  void everyChangeOfAFileThatIsReadShows() throws Exception {
    Path model = folder.resolve("model");
    Path template = folder.resolve("t.jinja");
    ModelSettings settings = settings(model.toString(), template);
    Set<String> stamps = new HashSet<>();
    stamps.add(FilesStamp.of(settings));
    Files.createDirectories(model.resolve("additional_chat_templates"));
    stamps.add(FilesStamp.of(settings));
    Path tokenizer = Files.writeString(model.resolve("tokenizer.json"), "{}");
    stamps.add(FilesStamp.of(settings));
    Files.setLastModifiedTime(tokenizer, FileTime.fromMillis(7));
    stamps.add(FilesStamp.of(settings));
    Files.writeString(model.resolve("additional_chat_templates/tool_use.jinja"), "");
    stamps.add(FilesStamp.of(settings));
    Files.writeString(template, "");
    stamps.add(FilesStamp.of(settings));
    assertThat(stamps).hasSize(6).doesNotContainNull();
    Files.writeString(model.resolve("model.safetensors"), "weights");
    assertThat(stamps).contains(FilesStamp.of(settings));
  }

  @Test
  void linkedDirectoriesAreLookedInto() throws Exception {
    Path real = Files.createDirectory(folder.resolve("real"));
    Path link = Files.createSymbolicLink(folder.resolve("link"), real);
    ModelSettings settings = settings(link.toString(), null);
    String before = FilesStamp.of(settings);
    Files.writeString(real.resolve("tokenizer.json"), "{}");
    assertThat(FilesStamp.of(settings)).isNotEqualTo(before);
  }

  @Test
  void aFileAloneHasAStamp() throws Exception {
    Path file = Files.writeString(folder.resolve("any.json"), "{}");
    ModelSettings settings = settings(file.toString(), null);
    String before = FilesStamp.of(settings);
    Files.writeString(file, "{ }");
    assertThat(FilesStamp.of(settings)).isNotEqualTo(before);
  }

  @Test
  void whatIsNotOnTheDiskHasNone() throws Exception {
    assertThat(FilesStamp.of(settings("embedded", null))).isNull();
    assertThat(FilesStamp.of(settings("hf://warmpath/never-downloaded", null))).isNull();
    assertThat(FilesStamp.of(settings("hf://no place", null))).contains("hf://no place");
  }

  private static ModelSettings settings(String place, Path template) throws IOException {
    Map<String, Object> model =
        template == null
            ? Map.of("name", "m", "tokenizer", place)
            : Map.of("name", "m", "tokenizer", place, "chat-template", template.toString());
    try {
      RouterConfig config = ConfigTree.empty().put("models", model, "test").config();
      return new ModelSettings(place, config.models().get(0).rendering(), Dialect.VLLM);
    } catch (Exception e) {
      throw new IOException(e);
    }
  }
}
