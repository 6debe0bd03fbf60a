package dev.warmpath.kvindex.stopped;

import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Constructor;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;

/**
 * The classes of the run index as they are, but with a {@link ReadStop} before each read of an
 * array or a field, and perhaps with one method that leaves the versions alone.
 *
 * <p>Thread-safe.
 */
final class StoppableClasses extends ClassLoader {

  private static final String ROOM = RunKvIndex.class.getPackageName() + '.';

  private final @Nullable VersionMutant mutant;

  StoppableClasses(@Nullable VersionMutant mutant) {
    super(StoppableClasses.class.getClassLoader());
    this.mutant = mutant;
  }

  /** An index without a bound. */
  KvIndex newIndex() {
    return newOne(KvIndex.class, "RunKvIndex", IndexLimits.unbounded(0), 1L);
  }

  /** A scene that is made of parts of an index. */
  Scene newScene(String name) {
    return newOne(Scene.class, name);
  }

  private <T> T newOne(Class<T> type, String name, Object... arguments) {
    try {
      Constructor<?>[] constructors = loadClass(ROOM + name).getConstructors();
      for (Constructor<?> constructor : constructors) {
        if (constructor.getParameterCount() == arguments.length) {
          return type.cast(constructor.newInstance(arguments));
        }
      }
      throw new IllegalStateException("name=" + name + " has no such constructor");
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(ROOM)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded != null ? loaded : define(name);
    }
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    String path = name.replace('.', '/') + ".class";
    try (InputStream in = getParent().getResourceAsStream(path)) {
      if (in == null) {
        throw new ClassNotFoundException(name);
      }
      ClassWriter writer = new ClassWriter(0);
      new ClassReader(in).accept(new StoppableClass(writer, mutant), 0);
      byte[] bytes = writer.toByteArray();
      return defineClass(name, bytes, 0, bytes.length);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
