package dev.warmpath.tokenizer.template;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class OutputTest {

  @Property(tries = 300)
  void isWhatWasAppended(@ForAll long seed) {
    Random random = new Random(seed);
    Output output = new Output(random.nextInt(300));
    StringBuilder expected = new StringBuilder();
    for (int i = random.nextInt(60); i > 0; i--) {
      int at = random.nextInt(expected.length() + 1);
      if (random.nextInt(4) == 0) {
        assertThat(output.from(at)).isEqualTo(expected.substring(at));
      } else if (random.nextInt(4) == 0) {
        output.cut(at);
        expected.setLength(at);
      } else {
        String text = (random.nextBoolean() ? "a" : "\u4e2d").repeat(random.nextInt(600));
        output.append(text);
        expected.append(text);
      }
      assertThat(output.length()).isEqualTo(expected.length());
    }
    assertThat(output.toString()).isEqualTo(expected.toString());
  }

  @Test
  void longTextsNeedNoRoomOfTheirOwn() {
    Output output = new Output();
    output.append("<user>");
    output.append("x".repeat(100_000));
    output.append("<end>");
    assertThat(output.longestTailChars()).isEqualTo(6);
  }
}
