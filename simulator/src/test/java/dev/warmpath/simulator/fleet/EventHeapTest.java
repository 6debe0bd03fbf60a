package dev.warmpath.simulator.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.simulator.fleet.EventHeap.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class EventHeapTest {

  private record Event(long nanos, Kind kind, long subject) {}

  private final EventHeap heap = new EventHeap();

  @Test
  void earliestFirstAndAtTheSameTimeInTheOrderOfAdding() {
    SplittableRandom random = new SplittableRandom(1);
    Kind[] kinds = Kind.values();
    List<Event> expected = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      Event event = new Event(random.nextInt(100), kinds[i % kinds.length], (1L << 59) - i);
      expected.add(event);
      heap.add(event.nanos, event.kind, event.subject);
    }
    expected.sort(Comparator.comparingLong(Event::nanos));
    for (Event event : expected) {
      assertThat(next()).isEqualTo(event);
    }
    assertThat(heap.isEmpty()).isTrue();
  }

  @Test
  void takesMoreWhileItIsEmptied() {
    heap.add(10, Kind.ARRIVAL, 1);
    heap.add(30, Kind.STEP_END, 2);
    assertThat(next().subject).isEqualTo(1);
    heap.add(30, Kind.INCIDENT, 3);
    heap.add(20, Kind.EVENTS_HEARD, 4);
    assertThat(List.of(next().subject, next().subject, next().subject)).containsExactly(4L, 2L, 3L);
    assertThat(heap.isEmpty()).isTrue();
    heap.add(5, Kind.ARRIVAL, 0);
    assertThat(next()).isEqualTo(new Event(5, Kind.ARRIVAL, 0));
  }

  private Event next() {
    Event event = new Event(heap.nextNanos(), heap.nextKind(), heap.nextSubject());
    heap.remove();
    return event;
  }
}
