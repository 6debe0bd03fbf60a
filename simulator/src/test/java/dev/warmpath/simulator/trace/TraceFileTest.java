package dev.warmpath.simulator.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class TraceFileTest {

  private static final String MOONCAKE =
      """
      {"timestamp": 27000, "input_length": 1100, "output_length": 7, "hash_ids": [0, 1, 2]}
      {"timestamp": 28500, "input_length": 1600, "output_length": 0, "hash_ids": [0, 1, 9, 10]}
      """;

  private static final String DELTA =
      """
      {"format":"delta-trace/1","block_size":64}
      {"s":3,"l":0,"k":0,"t":2.5,"think":0,"in":330,"out":9,"keep":0,"new":[[7,5]]}
      {"s":3,"l":1,"k":0,"t":4,"think":0,"in":64,"out":1,"keep":0,"new":[[20,1]]}
      {"s":3,"l":0,"k":1,"t":9,"think":300,"in":400,"out":9,"keep":4,"new":[[12,1],[40,1]]}
      """;

  @TempDir Path folder;

  @Test
  void mooncakeCountsFromItsFirstRequestInBlocksOf512() throws Exception {
    Trace trace = read(TraceFormat.MOONCAKE, MOONCAKE);
    assertThat(trace.name()).isEqualTo("chat");
    assertThat(trace.blockSizeTokens()).isEqualTo(512);
    assertThat(trace.requests()).isEqualTo(2);
    assertRequest(trace, 0, 0, Trace.NONE, Trace.NONE, 1100, 7, 0, 1);
    assertRequest(trace, 1, 1.5, Trace.NONE, Trace.NONE, 1600, 1, 0, 1, 9);
    assertThat(trace.spanSeconds()).isEqualTo(1.5);
  }

  @Test
  void bailianCountsSecondsInBlocksOf16() throws Exception {
    Trace trace =
        read(
            TraceFormat.BAILIAN,
            """
            {"chat_id": 1, "timestamp": 61.5, "input_length": 33, "output_length": 4, "hash_ids": [5, 6, 7]}
            {"chat_id": 2, "timestamp": 62.75, "input_length": 15, "output_length": 4, "hash_ids": [8]}
            """);
    assertThat(trace.blockSizeTokens()).isEqualTo(16);
    assertRequest(trace, 0, 0, Trace.NONE, Trace.NONE, 33, 4, 5, 6);
    assertRequest(trace, 1, 1.25, Trace.NONE, Trace.NONE, 15, 4);
  }

  @Test
  void deltaKeepsBlocksOfTheTurnBeforeInItsLaneAndThinksAMinuteAtMost() throws Exception {
    Trace trace = read(TraceFormat.DELTA, DELTA);
    assertThat(trace.blockSizeTokens()).isEqualTo(64);
    assertRequest(trace, 0, 2.5, Trace.NONE, 3, 330, 9, 7, 8, 9, 10, 11);
    assertRequest(trace, 1, 4, Trace.NONE, 3, 64, 1, 20);
    assertRequest(trace, 2, 60, 0, 3, 400, 9, 7, 8, 9, 10, 12, 40);
    assertThat(trace.spanSeconds()).as("of what waits for nothing").isEqualTo(4);
  }

  @Test
  void azureSharesNothing() throws Exception {
    Trace trace =
        read(
            TraceFormat.AZURE,
            """
            TIMESTAMP,ContextTokens,GeneratedTokens
            2023-11-16 18:15:46.6805900,374,44
            2023-11-16 18:15:50.6805900,129,109
            """);
    assertRequest(trace, 0, 0, Trace.NONE, Trace.NONE, 374, 44, 0, 1, 2, 3, 4);
    assertRequest(trace, 1, 4, Trace.NONE, Trace.NONE, 129, 109, 5, 6);
  }

  @Test
  void sessionsShareTheirSystemPromptAndGrowByTurns() throws Exception {
    Trace trace =
        read(
            TraceFormat.SESSION,
            """
            {"start": 1, "system": "a", "system_tokens": 40, "turns": [{"in": 8, "out": 20}, {"think": 5, "in": 12, "out": 4}]}
            {"start": 3, "system": "a", "system_tokens": 40, "turns": [{"in": 24, "out": 1}]}
            {"start": 4, "turns": [{"in": 16, "out": 1}]}
            """);
    assertThat(trace.blockSizeTokens()).isEqualTo(16);
    assertRequest(trace, 0, 1, Trace.NONE, 0, 48, 20, 0, 1, 2);
    assertRequest(trace, 1, 5, 0, 0, 80, 4, 0, 1, 2, 3, 4);
    assertRequest(trace, 2, 3, Trace.NONE, 1, 64, 1, 0, 1, 5, 6);
    assertRequest(trace, 3, 4, Trace.NONE, 2, 16, 1, 7);
  }

  @Test
  void readsPackedFilesEmptyLinesAndNoMoreLinesThanAsked() throws Exception {
    Path file = folder.resolve("packed.jsonl.gz");
    Files.write(file, packed(MOONCAKE + "\n\n"));
    assertThat(TraceFile.read(file, TraceFormat.MOONCAKE, 100).requests()).isEqualTo(2);
    assertThat(TraceFile.read(file, TraceFormat.MOONCAKE, 1).requests()).isEqualTo(1);
    assertThat(TraceFile.read(file, TraceFormat.MOONCAKE, 1).name()).isEqualTo("packed");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "mooncake | {oops | no JSON object",
        "mooncake | [1] | no JSON object",
        "mooncake | {\"input_length\":5,\"output_length\":1,\"hash_ids\":[]} | 'timestamp' is missing, must be a number",
        "mooncake | {\"timestamp\":1,\"input_length\":\"x\",\"output_length\":1,\"hash_ids\":[]} | 'input_length' is a string, must be a whole number from 1 to 16777216",
        "mooncake | {\"timestamp\":1,\"input_length\":0,\"output_length\":1,\"hash_ids\":[]} | 'input_length' is 0, must be a whole number from 1 to 16777216",
        "mooncake | {\"timestamp\":1,\"input_length\":1.5,\"output_length\":1,\"hash_ids\":[]} | 'input_length' is 1.5, must be a whole number from 1 to 16777216",
        "mooncake | {\"timestamp\":1,\"input_length\":600,\"output_length\":-1,\"hash_ids\":[0,1]} | 'output_length' is -1, must be a whole number from 0 to 16777216",
        "mooncake | {\"timestamp\":1,\"input_length\":600,\"output_length\":1} | 'hash_ids' is missing, must be a list",
        "mooncake | {\"timestamp\":1,\"input_length\":600,\"output_length\":1,\"hash_ids\":[\"a\"]} | 'hash_ids' has a string, must have whole numbers from 0 to 1073741823",
        "mooncake | {\"timestamp\":1,\"input_length\":600,\"output_length\":1,\"hash_ids\":[-4]} | 'hash_ids' has -4, must have whole numbers from 0 to 1073741823",
        "delta | {\"s\":0,\"l\":0,\"t\":0,\"in\":64,\"out\":1,\"keep\":1,\"new\":[]} | 'keep' is 1, must be 0 in the first turn of a lane",
        "delta | {\"s\":3,\"l\":0,\"think\":0,\"in\":6400,\"out\":1,\"keep\":9,\"new\":[]} | 'keep' is 9, must be a whole number from 0 to 6",
        "delta | {\"s\":3,\"l\":0,\"think\":0,\"in\":640,\"out\":1,\"keep\":0,\"new\":[3]} | 'new' has 3, must have pairs [first, count]",
        "delta | {\"s\":3,\"l\":0,\"think\":0,\"in\":640,\"out\":1,\"keep\":0,\"new\":[[1,-1]]} | 'new' has -1, must have whole numbers from 0 to 1073741823",
        "delta | {\"s\":3,\"l\":0,\"think\":-5,\"in\":640,\"out\":1,\"keep\":0,\"new\":[]} | 'think' is -5, must be a number from 0 to 1000000000",
        "session | {\"start\":0,\"turns\":[]} | 'turns' is empty",
        "session | {\"start\":0,\"system_tokens\":\"9\",\"turns\":[{\"in\":1,\"out\":1}]} | 'system_tokens' is a string, must be a whole number from 0 to 16777216",
        "session | {\"start\":0,\"turns\":[{\"in\":1,\"out\":1},{\"in\":1,\"out\":1}]} | 'think' is missing, must be a number from 0 to 1000000000",
        "session | {\"start\":0,\"turns\":[{\"in\":16777216,\"out\":1},{\"think\":1,\"in\":1,\"out\":1}]} | a prompt of 16777218 tokens, must be 1 to 16777216",
        "azure | 2023-11-16 18:15:46,x,1 | 'ContextTokens' must be a whole number from 0 to 16777216",
        "azure | 2023-11-16,1,1 | 'TIMESTAMP' must be like 2023-11-16 18:15:46.68",
        "azure | 2023-11-16 18:15:46,1 | no TIMESTAMP,ContextTokens,GeneratedTokens",
      })
  void namesFileLineAndFieldOfWhatIsWrong(String format, String line, String message)
      throws IOException {
    TraceFormat known = TraceFormat.named(format).orElseThrow();
    String good =
        switch (known) {
          case MOONCAKE -> MOONCAKE;
          case DELTA -> DELTA;
          default -> "";
        };
    Path file = Files.writeString(folder.resolve("bad.jsonl"), good + line + "\n");
    assertThatThrownBy(() -> TraceFile.read(file, known, Integer.MAX_VALUE))
        .isInstanceOf(TraceException.class)
        .hasMessage(file + ": line " + (good.lines().count() + 1) + ": " + message);
  }

  @Test
  void namesTheFileThatHasNoRequestsOrCannotBeRead() throws IOException {
    Path empty = Files.writeString(folder.resolve("empty.jsonl"), "");
    assertThatThrownBy(() -> TraceFile.read(empty, TraceFormat.SESSION, 9))
        .isInstanceOf(TraceException.class)
        .hasMessage(empty + ": no requests of the format 'session'");
    Path none = folder.resolve("none.jsonl");
    assertThatThrownBy(() -> TraceFile.read(none, TraceFormat.SESSION, 9))
        .isInstanceOf(IOException.class)
        .hasMessage("no such file: " + none);
    Path plain = Files.writeString(folder.resolve("plain.gz"), MOONCAKE);
    assertThatThrownBy(() -> TraceFile.read(plain, TraceFormat.MOONCAKE, 9))
        .isInstanceOf(IOException.class)
        .hasMessage(plain + ": Not in GZIP format");
    Path cut = folder.resolve("cut.gz");
    byte[] whole = packed(MOONCAKE);
    Files.write(cut, Arrays.copyOf(whole, whole.length / 2));
    assertThatThrownBy(() -> TraceFile.read(cut, TraceFormat.MOONCAKE, 9))
        .isInstanceOf(IOException.class)
        .hasMessage(cut + ": Unexpected end of ZLIB input stream");
  }

  private Trace read(TraceFormat format, String lines) throws Exception {
    Path file = Files.writeString(folder.resolve("chat.a.jsonl"), lines);
    return TraceFile.read(file, format, Integer.MAX_VALUE);
  }

  private static byte[] packed(String text) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      gzip.write(text.getBytes(StandardCharsets.UTF_8));
    }
    return bytes.toByteArray();
  }

  private static void assertRequest(
      Trace trace,
      int request,
      double seconds,
      int after,
      int session,
      int promptTokens,
      int answerTokens,
      int... blocks) {
    assertThat(trace.seconds(request)).isEqualTo(seconds);
    assertThat(trace.after(request)).isEqualTo(after);
    assertThat(trace.session(request)).isEqualTo(session);
    assertThat(trace.promptTokens(request)).isEqualTo(promptTokens);
    assertThat(trace.answerTokens(request)).isEqualTo(answerTokens);
    assertThat(trace.blocks(request)).isEqualTo(blocks.length);
    assertThat(trace.blockNumbers(request)).containsExactly(blocks);
  }
}
