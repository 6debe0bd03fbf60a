package dev.warmpath.simulator.fault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.Trust;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** After every fault nothing is credited that is not held, and everybody can see what happened. */
class FaultMatrixTest {

  static Stream<Arguments> cells() {
    List<Arguments> cells = new ArrayList<>();
    for (Fault fault : Fault.values()) {
      for (Form form : Form.values()) {
        for (boolean replay : new boolean[] {true, false}) {
          if (replay || !fault.needsReplay()) {
            cells.add(Arguments.of(fault, form, replay));
          }
        }
      }
    }
    return cells.stream();
  }

  @ParameterizedTest(name = "{0} {1} replay={2}")
  @MethodSource("cells")
  void staysTrue(Fault fault, Form form, boolean replay) {
    FaultRig before = FaultRig.live(form, replay);
    assertThat(before.known().percent()).isEqualTo(100);

    long counted = fault.counted().value().applyAsLong(before);
    FaultRig rig = fault.strike(before);
    long struck = fault.counted().value().applyAsLong(rig);
    rig.converge();

    assertThat(rig.known().over()).isZero();
    assertThat(rig.known().held()).isPositive();
    assertThat(fault.isHarmless() ? struck : fault.counted().value().applyAsLong(rig))
        .as("what harms nobody is counted at once, %s", fault.counted().name().apply(rig))
        .isGreaterThan(rig == before ? counted : 0);
    assertThat(rig.stream.trust().trust()).isEqualTo(fault.trust(rig, replay));
    if (fault.trustMoves(rig) == 0) {
      assertThat(rig.path).as("trust stays").containsExactly(Trust.EXACT);
    } else {
      assertThat(rig.path).as("trust moves").hasSizeGreaterThan(fault.trustMoves(rig));
    }
    if (rig.stream.trust().trust() == Trust.EXACT) {
      assertThat(rig.known().percent()).isEqualTo(100);
    }
  }

  /** {@code -Dwarmpath.docs=write} writes the page anew. */
  @Test
  void pageSaysWhatHappens() throws IOException {
    Path page = Path.of("../docs/reliability.md");
    String text = Files.readString(page);
    int begin = text.indexOf(ReliabilityPage.BEGIN) + ReliabilityPage.BEGIN.length();
    int end = text.indexOf(ReliabilityPage.END);
    String table = "\n" + ReliabilityPage.table() + "\n";
    if ("write".equals(System.getProperty("warmpath.docs"))) {
      Files.writeString(page, text.substring(0, begin) + table + text.substring(end));
    } else {
      assertThat(text.substring(begin, end)).isEqualTo(table);
    }
  }

  /** The row of hashed prompts can fail: by keys left out, and by another way of hashing. */
  @Test
  void promptsThatAreHashedWronglyAreCreditedOrOfNoUse() {
    FaultRig right = late(GivenPrompts.HASHED);
    assertThat(right.known().over()).isZero();
    assertThat(right.known().percent()).isEqualTo(100);
    assertThat(right.count(StreamCounter.COMPUTED_NAMES)).isPositive();
    right.serveAdapters(150);
    assertThat(right.known().over()).isZero();
    assertThat(late(GivenPrompts.HASHED_WITHOUT_KEYS).known().over()).isPositive();

    FaultRig other = late(GivenPrompts.HASHED_OTHERWISE);
    assertThat(other.count(StreamCounter.COMPUTED_NAMES)).isZero();
    assertThat(other.known()).isEqualTo(late(GivenPrompts.NOT_HASHED).known());
    assertThat(other.known().over()).isZero();
  }

  /** The row of extra keys can fail: too much is credited until answers tell. */
  @Test
  void extraKeysAreCreditedUntilAnswersTell() {
    FaultRig rig = FaultRig.live(Form.SGLANG_MAPS, true);
    rig.serveHidden(10);
    assertThat(rig.known().over()).isPositive();
    rig.serveAnswered(10);
    assertThat(rig.known().over()).isZero();
    assertThat(rig.stream.trust().reason()).contains("event-format: dynamo");
  }

  private static FaultRig late(GivenPrompts prompts) {
    FaultRig rig = FaultRig.live(Form.VLLM_MAPS, false).joinedLate(80).answering(prompts);
    rig.converge();
    return rig;
  }

  @Test
  void nobodyElseSuffersFromHostileEngine() {
    for (Form form : Form.values()) {
      FaultRig honest = FaultRig.live(form, true);
      FaultRig hostile = honest.beside(form.engine());
      Fault.HOSTILE.strike(hostile);
      honest.serve(20);

      assertThat(honest.known().percent()).isEqualTo(100);
      assertThat(honest.known().over()).isZero();
      assertThat(honest.stream.trust().trust()).isEqualTo(Trust.EXACT);
    }
  }
}
