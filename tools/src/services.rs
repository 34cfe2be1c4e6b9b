//! Services: what an application gives its tools, found by type.
//!
//! - DI-1: whether a tool's needs are met is known before anything runs.

use std::any::{Any, TypeId, type_name};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Names a service: a type, which may be `dyn Trait`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServiceKey {
    id: TypeId,
    name: &'static str,
}

impl ServiceKey {
    /// The key of a type.
    #[must_use]
    pub fn of<T: ?Sized + 'static>() -> Self {
        Self {
            id: TypeId::of::<T>(),
            name: type_name::<T>(),
        }
    }

    /// The type's name, for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.name
    }
}

impl fmt::Debug for ServiceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// An `Arc<T>` behind `Any`, so that `T` may be unsized.
type Shared = Arc<dyn Any + Send + Sync>;

/// The services of an application. A clone shares them; what is given to it later is its own.
#[derive(Clone, Default)]
pub struct Services {
    known: Arc<BTreeMap<ServiceKey, Shared>>,
    repeated: Vec<ServiceKey>,
}

impl Services {
    /// No services.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives a value, to be taken as `Dep<T>`.
    #[must_use]
    pub fn provide<T: Send + Sync + 'static>(self, service: T) -> Self {
        self.provide_shared(Arc::new(service))
    }

    /// Gives a shared value, to be taken as `Dep<T>` where `T` may be a trait: `provide_shared::<dyn Payments>(Arc::new(Stripe))`.
    #[must_use]
    pub fn provide_shared<T: ?Sized + Send + Sync + 'static>(mut self, service: Arc<T>) -> Self {
        let key = ServiceKey::of::<T>();
        if Arc::make_mut(&mut self.known)
            .insert(key, Arc::new(service))
            .is_some()
        {
            self.repeated.push(key);
        }
        self
    }

    /// Puts a service in the place of the one of its type, as tests do.
    #[must_use]
    pub fn replace<T: ?Sized + Send + Sync + 'static>(mut self, service: Arc<T>) -> Self {
        Arc::make_mut(&mut self.known).insert(ServiceKey::of::<T>(), Arc::new(service));
        self
    }

    /// The service of a type.
    #[must_use]
    pub fn find<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let shared = self.known.get(&ServiceKey::of::<T>())?;
        shared.downcast_ref::<Arc<T>>().cloned()
    }

    /// Whether a service of this type was given.
    #[must_use]
    pub fn has(&self, key: ServiceKey) -> bool {
        self.known.contains_key(&key)
    }

    /// Types that were given more than once: one of the two would never be used.
    #[must_use]
    pub fn repeated(&self) -> &[ServiceKey] {
        &self.repeated
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.known.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    trait Payments: Send + Sync {
        fn fee(&self) -> u32;
    }
    struct Free;
    impl Payments for Free {
        fn fee(&self) -> u32 {
            0
        }
    }

    // CONTRACT T2
    #[test]
    fn a_service_is_found_by_its_type_or_its_trait() {
        let services = Services::new()
            .provide("text".to_owned())
            .provide_shared::<dyn Payments>(Arc::new(Free));
        assert_eq!(*services.find::<String>().unwrap(), "text");
        assert_eq!(services.find::<dyn Payments>().unwrap().fee(), 0);
        assert!(services.find::<Free>().is_none());
    }

    #[test]
    fn a_type_given_twice_is_noticed_and_a_replacement_is_not() {
        let services = Services::new().provide(1_u32).replace(Arc::new(2_u32));
        assert!(services.repeated().is_empty());
        assert_eq!(*services.find::<u32>().unwrap(), 2);
        assert_eq!(services.provide(3_u32).repeated().len(), 1);
    }
}
