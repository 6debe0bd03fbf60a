package dev.warmpath.router.config;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads and makes records by their components. */
final class Records {

  private Records() {}

  static @Nullable Object value(Record record, RecordComponent component) {
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
  static <T extends Record> T construct(Class<T> type, List<@Nullable Object> values) {
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
}
