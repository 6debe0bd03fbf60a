package dev.warmpath.tokenizer.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The shipped tokenizer is what training on the shipped corpus gives, to the byte. */
class EmbeddedTrainingTest {

  @Test
  void trainingAgainGivesTheShippedFile() throws IOException {
    assertThat(EmbeddedTraining.tokenizerJson()).isEqualTo(shipped());
  }

  @Test
  void theFileIsSmall() throws IOException {
    assertThat(shipped().getBytes(StandardCharsets.UTF_8)).hasSizeLessThan(200_000);
  }

  private static String shipped() throws IOException {
    String name = "/dev/warmpath/tokenizer/embedded/tokenizer.json";
    try (InputStream in = EmbeddedTrainingTest.class.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
