package dev.warmpath.simulator.live;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The pages of ids 1 to 32 in pages of 16, as SGLang 0.5.23 publishes them. */
final class SglangHashingTest {

  private static final int[] IDS = IntStream.rangeClosed(1, 32).toArray();

  @ParameterizedTest
  @CsvSource({
    "false,,,, 8635429971592222890, 1256577331724852459",
    "false, x,,, 8635429971592222890, 1256577331724852459",
    "true,,,, 8635429971592222890, 1256577331724852459",
    "false,, tenantA,, 8148637879521523423, 705982362741588790",
    "false,,, fr, 1472499773248983558, -1598747166135746328",
    "true,,, fr, 1472499773248983558, -1598747166135746328",
    "false,, tenantA, fr, -5647580507996009255, 8971640045236048723",
    "false, x,, fr, 2841116293257009986, 2595306314407362732",
    "true,, tenantA,, -5506645415500093536, -7410328603548954718",
    "true, x,,, 794546959763694826, 8532732432703541018",
    "true, x, tenantA,, 6350942605982716550, 6639651729586920208"
  })
  void pagesHashAsTheEngineHashesThem(
      boolean dynamo,
      @Nullable String extraKey,
      @Nullable String salt,
      @Nullable String lora,
      long first,
      long second) {
    SglangHashing hashing = new SglangHashing(dynamo, Map.of("fr", "lora/fr"));
    Tokens tokens = new Tokens(List.of(IDS), new PromptKeys(lora, salt), true, true, null);
    PromptKeys keys = SglangKeys.of(tokens.in(extraKey));
    BlockHash one = hashing.hash(null, IDS, 0, 16, keys.of(0, 16));
    BlockHash two = hashing.hash(one, IDS, 16, 16, keys.of(1, 16));
    assertThat(one.low64()).isEqualTo(first);
    assertThat(two.low64()).isEqualTo(second);
    assertThat(SglangKeys.read(keys.of(0, 16))).isEqualTo(new SglangKeys(extraKey, salt));
    boolean plain = extraKey == null && salt == null && lora == null;
    assertThat(one.equals(hashing.hash(null, IDS, 0, 16, List.of())))
        .as("the engine keeps apart what the wire may not")
        .isEqualTo(plain);
  }
}
