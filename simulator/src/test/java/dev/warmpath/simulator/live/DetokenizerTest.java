package dev.warmpath.simulator.live;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.tokenizer.ModelTokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DetokenizerTest {

  private final ModelTokenizer tokenizer = ModelTokenizer.embedded();
  private long decodedTokens;

  @AfterEach
  void close() {
    tokenizer.close();
  }

  @Test
  void piecesAreWholeCharactersAndTheirSumIsTheText() {
    String text = "Straße, 你好, 👩‍👩‍👧‍👦 naïve\n\tcode(); ".repeat(40);
    int[] tokenIds = tokenizer.encode(text, false);

    List<String> pieces = pieces(tokenIds);

    assertThat(String.join("", pieces)).isEqualTo(text);
    assertThat(pieces).noneMatch(piece -> piece.contains("\uFFFD"));
  }

  @Test
  void workGrowsWithTheAnswerAndNotWithItsSquare() {
    int[] tokenIds = tokenizer.encode("The path is warm. ".repeat(1000), false);

    pieces(tokenIds);

    assertThat(decodedTokens).isLessThan(10L * tokenIds.length);
  }

  @Test
  void bytesThatNeverMakeACharacterAreNotHeldBackForEver() {
    int[] euro = tokenizer.encode("€", false);
    assertThat(euro.length).as("tokens of a character of three bytes").isGreaterThan(1);
    int half = euro[euro.length - 1];
    int[] tokenIds = IntStream.range(0, 2000).map(i -> half).toArray();

    List<String> pieces = pieces(tokenIds);

    assertThat(String.join("", pieces)).isEqualTo(tokenizer.decode(tokenIds));
    assertThat(pieces.subList(0, 100)).anyMatch(piece -> !piece.isEmpty());
    assertThat(decodedTokens).isLessThan(100L * tokenIds.length);
  }

  private List<String> pieces(int[] tokenIds) {
    Detokenizer detokenizer =
        new Detokenizer(some -> {
          decodedTokens += some.length;
          return tokenizer.decode(some);
        });
    List<String> pieces = new ArrayList<>();
    for (int i = 0; i < tokenIds.length; i++) {
      pieces.add(detokenizer.add(tokenIds[i], i == tokenIds.length - 1));
    }
    assertThat(detokenizer.tokenIds()).isEqualTo(tokenIds);
    return pieces;
  }
}
