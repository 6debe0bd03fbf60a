package dev.warmpath.eventingest.wire;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.msgpack.value.Value;
import org.msgpack.value.ValueFactory;

/**
 * Rewrites the value of a batch into another that means the same: keys in any order, surplus fields
 * and elements, trailing defaults left out, events of unknown types in between, the batch as a map.
 */
final class Disguise {

  private final Random random;
  private int unknownEvents;

  Disguise(Random random) {
    this.random = random;
  }

  /** How many events of unknown types have been put in. */
  int unknownEvents() {
    return unknownEvents;
  }

  Value batch(Value batch) {
    List<Value> parts = new ArrayList<>(batch.asArrayValue().list());
    parts.set(1, events(parts.get(1)));
    if (random.nextInt(3) == 0) {
      return shuffled(
          Map.of(text("ts"), parts.get(0), text("events"), parts.get(1)),
          Map.of(text("data_parallel_rank"), parts.get(2), text("more"), surplus()));
    }
    if (parts.get(2).isNilValue() && random.nextBoolean()) {
      parts.remove(2);
    } else if (random.nextBoolean()) {
      parts.add(surplus());
    }
    return ValueFactory.newArray(parts);
  }

  private Value events(Value events) {
    List<Value> disguised = new ArrayList<>();
    for (Value event : events.asArrayValue()) {
      if (random.nextInt(4) == 0) {
        unknownEvents++;
        disguised.add(unknown());
      }
      disguised.add(event.isMapValue() ? map(event) : array(event));
    }
    return ValueFactory.newArray(disguised);
  }

  private Value map(Value event) {
    return random.nextBoolean()
        ? shuffled(event.asMapValue().map(), Map.of())
        : shuffled(
            event.asMapValue().map(),
            Map.of(text("session_id"), surplus(), ValueFactory.newInteger(7), surplus()));
  }

  /** Stores need six elements and removals two; what is nil behind them may be left out. */
  private Value array(Value event) {
    List<Value> elements = new ArrayList<>(event.asArrayValue().list());
    String type = elements.get(0).asStringValue().asString();
    int least = type.equals("BlockStored") ? 6 : type.equals("BlockRemoved") ? 2 : 1;
    boolean complete = true;
    while (elements.size() > least
        && elements.get(elements.size() - 1).isNilValue()
        && random.nextBoolean()) {
      elements.remove(elements.size() - 1);
      complete = false;
    }
    boolean longest = type.equals("BlockStored") ? elements.size() == 12 : elements.size() == 4;
    if (complete && longest && random.nextBoolean()) {
      elements.add(surplus());
    }
    return ValueFactory.newArray(elements);
  }

  private Value unknown() {
    Value type = text("BlockPondered");
    return random.nextBoolean()
        ? ValueFactory.newArray(type, surplus(), surplus())
        : shuffled(Map.of(text("type"), type), Map.of(text("block_hashes"), surplus()));
  }

  private Value shuffled(Map<Value, Value> fields, Map<Value, Value> more) {
    List<Map.Entry<Value, Value>> entries = new ArrayList<>(fields.entrySet());
    entries.addAll(more.entrySet());
    Collections.shuffle(entries, random);
    List<Value> values = new ArrayList<>();
    entries.forEach(entry -> Collections.addAll(values, entry.getKey(), entry.getValue()));
    return ValueFactory.newMap(values.toArray(Value[]::new));
  }

  /** A value of any type, small or nested. */
  private Value surplus() {
    return switch (random.nextInt(9)) {
      case 0 -> ValueFactory.newNil();
      case 1 -> ValueFactory.newBoolean(random.nextBoolean());
      case 2 -> ValueFactory.newInteger(random.nextLong() >> random.nextInt(64));
      case 3 -> ValueFactory.newFloat(random.nextFloat());
      case 4 -> text("x".repeat(random.nextInt(300)));
      case 5 -> ValueFactory.newBinary(new byte[random.nextInt(70_000)]);
      case 6 -> ValueFactory.newExtension((byte) 5, new byte[1 << random.nextInt(6)]);
      case 7 -> ValueFactory.newArray(surplus(), surplus());
      default -> ValueFactory.newMap(surplus(), surplus());
    };
  }

  private static Value text(String text) {
    return ValueFactory.newString(text);
  }
}
