package dev.warmpath.simulator.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.TestProgram;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TokenizeCommandTest {

  private static final String TEXT = "The router knows what each replica holds.";

  @TempDir Path folder;

  @Test
  void printsTextTokensAndBlockKeys() throws IOException {
    JsonNode json =
        json("--text", TEXT, "--block-size", "4", "--model", "m", "--lora", "a", "--json");
    int[] ids = encode(TEXT);
    BlockChain chain = BlockChain.of(new ChainSpace("m", 4, 0), ids, new PromptKeys("a", null));
    assertThat(json.path("text").asText()).isEqualTo(TEXT);
    assertThat(json.path("tokens").asInt()).isEqualTo(ids.length);
    assertThat(json.path("tokenIds")).extracting(JsonNode::asInt).containsExactly(boxed(ids));
    assertThat(json.path("blockKeys")).hasSize(chain.blocks());
    assertThat(json.path("blockKeys").get(0).asText())
        .isEqualTo("%016x".formatted(chain.blockKey(0)));
  }

  @Test
  void showsARequestOfEachPath() throws IOException {
    String message = "{\"role\":\"user\",\"content\":\"Hello\"}";
    Path list = Files.writeString(folder.resolve("list.json"), "[" + message + "]");
    String chat = json("--chat", list.toString(), "--json").path("text").asText();
    assertThat(chat).contains("Hello");
    assertThat(json("--messages", list.toString(), "--json").path("text").asText()).isEqualTo(chat);
    assertThat(json("--responses", list.toString(), "--json").path("text").asText())
        .isEqualTo(chat);
    Path body =
        Files.writeString(
            folder.resolve("body.json"),
            "{\"system\":\"Be kind.\",\"messages\":[" + message + "],\"max_tokens\":1}");
    assertThat(json("--messages", body.toString(), "--json").path("text").asText())
        .contains("Be kind.");
    assertThat(json("--chat", body.toString(), "--json").path("text").asText())
        .doesNotContain("Be kind.");
    Path items =
        Files.writeString(
            folder.resolve("items.json"), "{\"instructions\":\"Be short.\",\"input\":\"Hi\"}");
    assertThat(json("--responses", items.toString(), "--json").path("text").asText())
        .contains("Be short.", "Hi");
  }

  @Test
  void takesTheEnginesTemplate() throws IOException {
    Path list =
        Files.writeString(
            folder.resolve("list.json"), "[{\"role\":\"user\",\"content\":\"Hello\"}]");
    Path template = Files.writeString(folder.resolve("t.jinja"), "own {{ messages | length }}");
    String[] args = {"--chat", list.toString(), "--chat-template", template.toString(), "--json"};
    assertThat(json(args).path("text").asText()).isEqualTo("own 1");
    args[3] = "absent";
    assertThat(run(args).exitCode()).isEqualTo(Exit.FAILED);
  }

  @Test
  void saysWhyAPromptIsNotExact() throws IOException {
    Run run = run("--text", "", "--json");
    assertThat(run.exitCode()).isEqualTo(Exit.FAILED);
    assertThat(run.lastLine().path("inexact").path("reason").asText()).isEqualTo("invalid_request");
  }

  @Test
  void triesTheCutsOfTheEmbeddedTokenizer() throws IOException {
    Run run = run("--check-cuts", "--texts", "200", "--json");
    assertThat(run.exitCode()).isEqualTo(Exit.OK);
    assertThat(run.lastLine().path("texts").asInt()).isEqualTo(200);
    assertThat(run.lastLine().path("mismatches").asInt(-1)).isZero();
    assertThat(run.lastLine().path("placement").asText()).isEqualTo("INSIDE");
    assertThat(run("--check-cuts", "--texts", "0").exitCode()).isEqualTo(Exit.USAGE);
  }

  @Test
  void wrongUsageIsOneLineAboutTheFlag() throws IOException {
    assertThat(run("--text", "a", "--block-size", "0").exitCode()).isEqualTo(Exit.USAGE);
    assertThat(run("--text", "a", "--chat", "b").exitCode()).isEqualTo(Exit.USAGE);
    assertThat(run().exitCode()).isEqualTo(Exit.USAGE);
    Path broken = Files.writeString(folder.resolve("chat.json"), "{\n\"messages\": [}");
    assertThat(run("--chat", broken.toString()).exitCode()).isEqualTo(Exit.USAGE);
    assertThat(run("--goldens", folder.toString()).exitCode())
        .as("of clones")
        .isEqualTo(Exit.USAGE);
    assertThat(run("--capture", broken.toString()).exitCode()).isEqualTo(Exit.FAILED);
    assertThat(run("--tokenizer", "absent", "--text", "a").exitCode()).isEqualTo(Exit.FAILED);
  }

  private record Run(int exitCode, String out) {

    JsonNode lastLine() throws IOException {
      return new ObjectMapper().readTree(out.lines().reduce("", (before, line) -> line));
    }
  }

  private static JsonNode json(String... args) throws IOException {
    Run run = run(args);
    assertThat(run.exitCode()).isEqualTo(Exit.OK);
    return run.lastLine();
  }

  private static Run run(String... args) {
    PrintStream out = System.out;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    try {
      String[] all = new String[args.length + 1];
      all[0] = "tokenize";
      System.arraycopy(args, 0, all, 1, args.length);
      return new Run(new TestProgram().run(all), bytes.toString(StandardCharsets.UTF_8));
    } finally {
      System.setOut(out);
    }
  }

  private static int[] encode(String text) {
    try (ModelTokenizer tokenizer = ModelTokenizer.embedded()) {
      return tokenizer.encode(text, true);
    }
  }

  private static Integer[] boxed(int[] ids) {
    return java.util.Arrays.stream(ids).boxed().toArray(Integer[]::new);
  }
}
