package dev.warmpath.lab.tokens;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.Main;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompareTokensCommandTest {

  @TempDir Path folder;

  @Test
  void rendersTemplatesAndCountsWhatJinjaMadeOtherwise() throws IOException {
    write("templates", "{\"t\": {\"template\": \"<{{ messages[0].content }}>\"}}");
    write("conversations", "{\"c\": {\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}}");
    write("goldens", "[" + golden("<Hi>") + "]");
    assertThat(run("--goldens", folder.toString()))
        .isEqualTo(new Run(Exit.OK, "{\"total\":1,\"exact\":1,\"wrong\":0,\"inexact\":0}"));
    write("goldens", "[" + golden("<Hi>") + "," + golden("Hi") + "]");
    assertThat(run("--goldens", folder.toString()))
        .isEqualTo(new Run(Exit.FAILED, "{\"total\":2,\"exact\":1,\"wrong\":1,\"inexact\":0}"));
  }

  @Test
  void comparesPromptsWithThoseOfAnEngine() throws IOException {
    String ids;
    try (ModelTokenizer tokenizer = ModelTokenizer.embedded()) {
      ids = Arrays.toString(tokenizer.encode("Hello, world", true));
    }
    String golden =
        "{\"goldens\":[{\"name\":\"n\",\"api\":\"completion\",\"request\":{\"prompt\":\"%s\"},\"ids\":%s}]}";
    Path file = Files.writeString(folder.resolve("g.json"), golden.formatted("Hello, world", ids));
    assertThat(run("--goldens", file.toString()).exitCode()).isEqualTo(Exit.OK);
    Files.writeString(file, golden.formatted("Hello", ids));
    assertThat(run("--goldens", file.toString()).exitCode()).isEqualTo(Exit.FAILED);
  }

  @Test
  void wrongUsageAndWhatCannotBeRead() {
    assertThat(run("--goldens", folder.toString()).exitCode()).isEqualTo(Exit.FAILED);
    assertThat(run("--against", "http://127.0.0.1:1").exitCode()).isEqualTo(Exit.FAILED);
    assertThat(run("--goldens", "a", "--text", "b").exitCode()).isEqualTo(Exit.USAGE);
    assertThat(run("--goldens", "a", "--against", "b").exitCode()).isEqualTo(Exit.USAGE);
    assertThat(run().exitCode()).isEqualTo(Exit.USAGE);
  }

  @Test
  void doesWhatADistributionDoes() {
    assertThat(run("--text", "Hello, world", "--json").out()).contains("\"tokenIds\"");
  }

  private static String golden(String output) {
    return "{\"template\":\"t\",\"conversation\":\"c\",\"ok\":true,\"output\":\"" + output + "\"}";
  }

  private void write(String name, String json) throws IOException {
    Path file = folder.resolve(name + ".json.gz");
    try (GZIPOutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
      out.write(json.getBytes(UTF_8));
    }
  }

  private record Run(int exitCode, String out) {}

  private static Run run(String... args) {
    PrintStream out = System.out;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    System.setOut(new PrintStream(bytes, true, UTF_8));
    try {
      String[] all = new String[args.length + 1];
      all[0] = "tokenize";
      System.arraycopy(args, 0, all, 1, args.length);
      int code = Main.commandLine(new CompareTokensCommand()).execute(all);
      return new Run(code, bytes.toString(UTF_8).strip());
    } finally {
      System.setOut(out);
    }
  }
}
