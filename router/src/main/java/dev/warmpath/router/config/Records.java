package dev.warmpath.router.config;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads and makes records by their components. */
public final class Records {

  private Records() {}

  public static @Nullable Object value(Record record, RecordComponent component) {
    try {
      return component.getAccessor().invoke(record);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("component=" + component, e);
    }
  }

  /**
   * A record of these values.
   *
   * @throws IllegalArgumentException what the record has against them
   */
  public static <T extends Record> T construct(Class<T> type, List<@Nullable Object> values) {
    Class<?>[] types =
        Stream.of(type.getRecordComponents())
            .map(RecordComponent::getType)
            .toArray(Class<?>[]::new);
    try {
      return type.getDeclaredConstructor(types).newInstance(values.toArray());
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof IllegalArgumentException rejected) {
        throw rejected;
      }
      throw new IllegalStateException("record=" + type, e);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("record=" + type, e);
    }
  }

  /** The names of the keys in which two records of one type differ. */
  public static Set<String> differences(Record before, Record after) {
    Set<String> keys = new LinkedHashSet<>();
    for (RecordComponent component : before.getClass().getRecordComponents()) {
      if (!Objects.equals(value(before, component), value(after, component))) {
        keys.add(ConfigKey.name(component));
      }
    }
    return keys;
  }
}
