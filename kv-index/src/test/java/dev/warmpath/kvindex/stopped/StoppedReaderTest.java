package dev.warmpath.kvindex.stopped;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A reader that is stopped anywhere while something is written sees what was, or what is. */
class StoppedReaderTest {

  /** Made of parts of an index. */
  private static final List<String> MOVES = List.of("MovedSlab", "MovedFirstSlab", "MovedList");

  @Test
  void readerSeesWhatWasOrWhatIs() {
    assertThat(wrongAnswers(new StoppableClasses(null))).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void noticesMutant(VersionMutant mutant) {
    assertThat(wrongAnswers(new StoppableClasses(mutant))).isNotEmpty();
  }

  private static List<String> wrongAnswers(StoppableClasses classes) {
    List<String> wrong = new ArrayList<>();
    for (Scenes scene : Scenes.values()) {
      new StoppedReader(() -> scene.of(classes.newIndex()))
          .wrongAnswer()
          .ifPresent(answer -> wrong.add(scene + ": " + answer));
    }
    for (String move : MOVES) {
      new StoppedReader(() -> classes.newScene(move))
          .wrongAnswer()
          .ifPresent(answer -> wrong.add(move + ": " + answer));
    }
    return wrong;
  }
}
